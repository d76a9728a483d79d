import Foundation

/// Which database of which server, and how it is reached.
package struct PostgresConfiguration: Sendable, Equatable {
    /// A host name, an address, or the folder of a Unix socket, which begins with a slash.
    package var host: String
    package var port: Int
    package var database: String
    package var user: String
    /// A file whose first line is the password, read anew for each connection; nil where the server asks for none.
    package var passwordFile: String?
    /// Certificates of those that may vouch for the server: a PEM file.
    package var rootCertificates: String
    /// How long making a connection may take, in whole seconds for libpq; two at least.
    package var connectTimeout = Duration.seconds(5)
    /// How long a statement may run, the wait for a lock included.
    package var statementTimeout = Duration.seconds(30)
    /// How long what we sent may stay unacknowledged before the connection counts as dead.
    package var networkTimeout = Duration.seconds(10)
    /// How long a transaction may wait for our next statement: a process that is stopped must not keep others from what it has locked.
    package var idleTransactionTimeout = Duration.seconds(5)
    /// How we call ourselves in the server's own lists.
    package var applicationName = "purser"

    /// Where Debian has the certificates that it trusts.
    package static let systemRootCertificates = "/etc/ssl/certs/ca-certificates.crt"

    package init(
        host: String, port: Int = 5432, database: String, user: String, passwordFile: String? = nil,
        rootCertificates: String = systemRootCertificates
    ) {
        self.host = host
        self.port = port
        self.database = database
        self.user = user
        self.passwordFile = passwordFile
        self.rootCertificates = rootCertificates
    }

    /// Reads `postgres://USER@HOST:PORT/DATABASE`, or `postgres://USER@/DATABASE?host=/FOLDER` for a Unix socket.
    ///
    /// `sslrootcert` names the file of certificates. `sslmode` may be given as `verify-full`, which is what is used anyway.
    ///
    /// - Throws: ``Malformed``, with a sentence for who wrote it.
    package init(url text: String) throws(Malformed) {
        guard let parts = URLComponents(string: text), ["postgres", "postgresql"].contains(parts.scheme ?? "") else {
            throw Malformed(reason: "it is no URL that begins with postgres://")
        }
        guard parts.password == nil else {
            throw Malformed(reason: "it holds a password; give that in a file of its own")
        }
        var options: [String: String] = [:]
        for item in parts.queryItems ?? [] {
            guard ["host", "sslmode", "sslrootcert"].contains(item.name), options[item.name] == nil else {
                // Not named: a password with a question mark looks like options.
                throw Malformed(reason: "it has an option that is not host, sslmode or sslrootcert, or one twice")
            }
            options[item.name] = item.value ?? ""
        }
        guard options["sslmode"].map({ $0 == "verify-full" }) ?? true else {
            throw Malformed(reason: "its sslmode is not verify-full, the only one that there is")
        }
        let named = parts.host.flatMap { $0.isEmpty ? nil : $0 }
        guard let host = options["host"] ?? named, !host.isEmpty, options["host"] == nil || named == nil else {
            throw Malformed(reason: "it names no host, or two")
        }
        guard let user = parts.user, !user.isEmpty else { throw Malformed(reason: "it names no user") }
        let database = parts.path.drop { $0 == "/" }
        guard !database.isEmpty, !database.contains("/") else { throw Malformed(reason: "it names no database") }
        self.init(
            host: host, port: parts.port ?? 5432, database: String(database), user: user,
            rootCertificates: options["sslrootcert"] ?? Self.systemRootCertificates)
    }

    /// Why a URL is none of a database.
    package struct Malformed: Error, Sendable, Equatable {
        package let reason: String
    }

    /// Whether the server is reached by a Unix socket, which needs no encryption.
    package var isLocalSocket: Bool { host.hasPrefix("/") }

    /// The server and the database, for people; no secret is in it.
    package var description: String { "\(host):\(port)/\(database)" }

    /// Statements are written for their indexes, and are planned once, without values.
    ///
    /// The planner takes a third of a table for earlier than a
    /// moment that it does not know, and would walk through a million rows for one that is not there; or for what a database that was
    /// just restored does not tell it. Where a walk cannot be avoided, what compiles it first costs more than it.
    private static let planning = "-c enable_seqscan=off -c plan_cache_mode=force_generic_plan -c jit=off"

    /// What libpq is told, all of it, so that nothing of the environment's counts.
    ///
    /// Source: https://www.postgresql.org/docs/15/libpq-connect.html#LIBPQ-PARAMKEYWORDS
    ///
    /// - Throws: ``PostgresError`` when there is no password in the file that should hold it.
    func parameters() throws(PostgresError) -> [(name: String, value: String)] {
        var parameters = [
            ("host", host), ("port", "\(port)"), ("dbname", database), ("user", user),
            ("application_name", applicationName), ("client_encoding", "UTF8"),
            ("connect_timeout", "\(max(2, connectTimeout.components.seconds))"),
            ("tcp_user_timeout", "\(milliseconds(networkTimeout))"),
            ("keepalives", "1"), ("keepalives_idle", "10"), ("keepalives_interval", "5"), ("keepalives_count", "3"),
            (
                "options",
                "-c statement_timeout=\(milliseconds(statementTimeout)) -c standard_conforming_strings=on "
                    + "-c idle_in_transaction_session_timeout=\(milliseconds(idleTransactionTimeout)) \(Self.planning)"
            ),
            ("gssencmode", "disable"), ("sslmode", isLocalSocket ? "disable" : "verify-full"),
            ("sslrootcert", rootCertificates), ("ssl_min_protocol_version", "TLSv1.2"),
            // One that cannot be there, so that no password is found that was not given; of a device libpq would warn at each connection.
            ("passfile", "/dev/null/none"), ("target_session_attrs", "read-write"),
        ]
        if let passwordFile { parameters.append(("password", try Self.password(in: passwordFile))) }
        return parameters
    }

    private static func password(in file: String) throws(PostgresError) -> String {
        // What stands there may be a link, as a secret of Kubernetes is.
        let target = URL(filePath: file).resolvingSymlinksInPath().path(percentEncoded: false)
        let attributes = try? FileManager.default.attributesOfItem(atPath: target)
        // A named pipe would block until a writer comes.
        guard attributes?[.type] as? FileAttributeType == .typeRegular,
            let mode = (attributes?[.posixPermissions] as? NSNumber)?.intValue,
            let data = FileManager.default.contents(atPath: target)
        else {
            throw PostgresError(.authentication, "the password file \(file) cannot be read", during: "connect")
        }
        guard mode & 0o007 == 0 else {
            throw PostgresError(
                .authentication, "the password file \(file) can be read by everybody; take that right away (chmod o=)",
                during: "connect")
        }
        let line = String(decoding: data, as: UTF8.self).prefix { !$0.isNewline }
        guard !line.isEmpty else {
            throw PostgresError(.authentication, "the password file \(file) is empty", during: "connect")
        }
        return String(line)
    }

    private func milliseconds(_ duration: Duration) -> Int64 {
        duration.components.seconds * 1000 + duration.components.attoseconds / 1_000_000_000_000_000
    }
}
