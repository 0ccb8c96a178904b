// What Py4J would ask relation by relation, in one call. Janino compiles it in Spark's JVM, as Spark compiles queries; it
// knows no generics and no lambdas.

import com.fasterxml.jackson.databind.ObjectMapper;
import java.net.URI;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.catalyst.TableIdentifier;
import org.apache.spark.sql.catalyst.catalog.CatalogTable;
import org.apache.spark.sql.catalyst.catalog.SessionCatalog;
import org.apache.spark.sql.classic.SparkSession;
import scala.Option;
import scala.collection.Seq;
import scala.jdk.javaapi.CollectionConverters;

public class Bulk {
    private static final String SETTING = "view.sqlConfig.";

    private final ObjectMapper json = new ObjectMapper();

    /** What facts.listing promises of the relations of a schema whose names match a pattern, as JSON. */
    public String listing(SparkSession spark, String schema, String pattern) throws Exception {
        SessionCatalog catalog = spark.sessionState().catalog();
        List found = new ArrayList();
        if (catalog.databaseExists(schema)) {
            Seq names = catalog.listTables(schema, pattern, false);
            Iterator entries = CollectionConverters.asJava(catalog.getTablesByName(names.toSeq())).iterator();
            while (entries.hasNext()) {
                found.add(listed(schema, (CatalogTable) entries.next()));
            }
        }
        return json.writeValueAsString(found);
    }

    /**
     * Gives views of a schema new texts, {name: [old, new]} as JSON, one after the other; each changes at one instant.
     * Returns the names of those that have another text than the old one, and keep it, as JSON.
     */
    public String alter(SparkSession spark, String schema, String texts) throws Exception {
        SessionCatalog catalog = spark.sessionState().catalog();
        Map wanted = (Map) json.readValue(texts, LinkedHashMap.class);
        List names = new ArrayList();
        for (Iterator each = wanted.keySet().iterator(); each.hasNext();) {
            names.add(new TableIdentifier((String) each.next(), Option.apply(schema)));
        }
        Map views = new HashMap();
        Seq entries = catalog.getTablesByName(CollectionConverters.asScala(names).toSeq());
        for (Iterator each = CollectionConverters.asJava(entries).iterator(); each.hasNext();) {
            CatalogTable view = (CatalogTable) each.next();
            views.put(view.identifier().table().toLowerCase(Locale.ROOT), view);
        }
        List others = new ArrayList();
        for (Iterator each = wanted.entrySet().iterator(); each.hasNext();) {
            Map.Entry one = (Map.Entry) each.next();
            CatalogTable view = (CatalogTable) views.get(((String) one.getKey()).toLowerCase(Locale.ROOT));
            List text = (List) one.getValue();
            if (view == null || !view.viewText().contains(text.get(0))) {
                others.add(one.getKey());
            } else {
                catalog.externalCatalog().alterTable(withText(view, (String) text.get(1)));
            }
        }
        return json.writeValueAsString(others);
    }

    private static CatalogTable withText(CatalogTable view, String text) throws Exception {
        Object[] fields = new Object[view.productArity()];
        for (int n = 0; n < fields.length; n++) {
            String field = view.productElementName(n);
            boolean isText = field.equals("viewText") || field.equals("viewOriginalText");
            fields[n] = isText ? Option.apply(text) : view.productElement(n);
        }
        return (CatalogTable) CatalogTable.class.getConstructors()[0].newInstance(fields);
    }

    private static Map listed(String schema, CatalogTable entry) {
        boolean isView = entry.tableType().name().equals("VIEW");
        Object location = isView ? null : optional(entry.storage().locationUri());
        Object provider = optional(entry.provider());
        Map about = new LinkedHashMap();
        about.put("schema", schema);
        about.put("name", entry.identifier().table());
        about.put("type", isView ? "view" : "table");
        about.put("provider", provider == null ? "" : ((String) provider).toLowerCase(Locale.ROOT));
        about.put("location", location == null ? "" : new Path((URI) location).toString());
        if (isView) {
            about.put("text", optional(entry.viewText()));
            about.put("namespace", optional(entry.viewCatalogAndNamespace().lastOption()));
            Map settings = settings(entry);
            about.put("zone", settings.get("spark.sql.session.timeZone"));
            about.put("settings", settings);
            about.put("mode", optional(entry.properties().get("view.schemaMode")));
            about.put("columns", entry.schema().json());
        }
        return about;
    }

    /** The settings with which a view was created: Spark reads it with them. */
    private static Map settings(CatalogTable view) {
        Map found = new TreeMap();
        Iterator each = CollectionConverters.asJava(view.properties()).entrySet().iterator();
        while (each.hasNext()) {
            Map.Entry one = (Map.Entry) each.next();
            String key = (String) one.getKey();
            if (key.startsWith(SETTING)) {
                found.put(key.substring(SETTING.length()), one.getValue());
            }
        }
        return found;
    }

    private static Object optional(Option found) {
        return found.isDefined() ? found.get() : null;
    }
}
