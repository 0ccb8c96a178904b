package dbt_delta

import java.io.IOException
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.FileAlreadyExistsException
import scala.jdk.CollectionConverters._
import scala.language.existentials

import io.delta.storage.S3SingleDriverLogStore
import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path

/**
 * Delta's log in S3, for any number of writers.
 *
 * Delta's own class looks whether a commit is there and then writes it, so that of two drivers the
 * second replaces the commit of the first. Here S3 itself refuses (`If-None-Match: *`).
 */
class S3LogStore(conf: Configuration) extends S3SingleDriverLogStore(conf) {

  override def write(path: Path, actions: java.util.Iterator[String],
      overwrite: java.lang.Boolean, conf: Configuration): Unit =
    if (overwrite) super.write(path, actions, overwrite, conf)
    else {
      val lines = actions.asScala.toVector
      try create(path, lines.map(_ + "\n").mkString, conf)
      catch {
        // Also after an answer that was lost: then the commit is this one, and it is done.
        case error: IOException =>
          found(path, conf) match {
            case None => throw error
            case Some(`lines`) =>
            case _ => throw new FileAlreadyExistsException(path.toString)
          }
      }
    }

  private def create(path: Path, text: String, conf: Configuration): Unit = {
    val builder = path.getFileSystem(conf).createFile(path).recursive()
    builder.must("fs.option.create.conditional.overwrite", "true")
    val stream = builder.build()
    stream.write(text.getBytes(UTF_8))
    stream.close()
  }

  private def found(path: Path, conf: Configuration): Option[Vector[String]] =
    if (!path.getFileSystem(conf).exists(path)) None
    else {
      val lines = read(path, conf)
      try Some(lines.asScala.toVector) finally lines.close()
    }
}
