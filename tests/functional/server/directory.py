"""A real LDAP server on 127.0.0.1 with one person in it. Usage: directory.py PORT USER PASSWORD"""

import io
import sys

from ldaptor.inmemory import fromLDIFFile
from ldaptor.interfaces import IConnectedLDAPEntry
from ldaptor.protocols.ldap.ldapserver import LDAPServer
from twisted.internet import reactor
from twisted.internet.protocol import ServerFactory
from twisted.python.components import registerAdapter

PEOPLE = """\
dn: dc=lab
objectClass: dcObject
dc: lab

dn: uid={user},dc=lab
objectClass: inetOrgPerson
uid: {user}
cn: {user}
sn: {user}
userPassword: {password}

"""


class Directory(ServerFactory):
    """Answers with the entries of a tree."""

    protocol = LDAPServer

    def __init__(self, root: object) -> None:
        self.root = root


def main(port: int, user: str, password: str) -> None:
    registerAdapter(lambda factory: factory.root, Directory, IConnectedLDAPEntry)

    def listen(root: object) -> None:
        reactor.listenTCP(port, Directory(root), interface="127.0.0.1")
        print("ready", flush=True)

    text = PEOPLE.format(user=user, password=password)
    fromLDIFFile(io.BytesIO(text.encode())).addCallback(listen)
    reactor.run()


if __name__ == "__main__":
    main(int(sys.argv[1]), *sys.argv[2:])
