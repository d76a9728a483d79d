import Foundation
package import Postgres

/// The database, chosen by the prefix of its location.
package enum StoreLocation: Sendable, Equatable {
    /// An SQLite database in a file, by absolute path; written `sqlite:/var/lib/purser/purser.db`.
    case sqlite(path: String)
    /// A database of a PostgreSQL server; written `postgres://purser@db.example.com/purser`.
    case postgres(PostgresConfiguration)

    /// The file of the password, where there is one.
    var passwordFile: String? {
        if case .postgres(let configuration) = self { configuration.passwordFile } else { nil }
    }

    /// The same, however the daemon gets in.
    var withoutPassword: StoreLocation {
        guard case .postgres(var configuration) = self else { return self }
        configuration.passwordFile = nil
        return .postgres(configuration)
    }

    /// Where the daemon keeps what it has beside a database that is no file of this host's.
    private static let stateFolder = "/var/lib/purser"

    /// A file or directory beside the database.
    ///
    /// Its name does not begin as the database's, so that what copies the database with its companions leaves it out.
    func companion(_ suffix: String) -> String {
        switch self {
        case .sqlite(let path):
            URL(filePath: path).deletingPathExtension().appendingPathExtension(suffix).path(percentEncoded: false)
        case .postgres: "\(Self.stateFolder)/purser.\(suffix)"
        }
    }
}

extension ConfigurationValue<StoreLocation> {
    static var storeLocation: Self {
        Self(
            expectation: """
                `sqlite:` and the absolute path of the database file, or `postgres://USER@HOST/DATABASE` with the password \
                in a file of its own
                """
        ) { text in
            guard text.hasPrefix("sqlite:") else {
                return (try? PostgresConfiguration(url: text)).map { .postgres($0) }
            }
            guard text.hasPrefix("sqlite:/"), !text.hasSuffix("/") else { return nil }
            return .sqlite(path: String(text.dropFirst("sqlite:".count)))
        }
    }
}

extension ConfigurationParser {
    /// Reads `store` and `storePassword`; nil after a problem was reported.
    mutating func storeSection() -> StoreLocation? {
        let store = requiredSetting(["store"], as: .storeLocation)
        let (filePath, credentialPath) = (["storePassword", "file"], ["storePassword", "credential"])
        let file = setting(filePath, as: .absolutePath)
        let credential = setting(credentialPath, as: .credentialName)
        if isGiven(filePath), isGiven(credentialPath) {
            report(
                place(of: credentialPath), key: "storePassword", "There are both `file` and `credential`; keep one.")
        }
        guard case .postgres(var configuration) = store else {
            for path in [filePath, credentialPath] where isGiven(path) && store != nil {
                report(
                    place(of: path), key: path.joined(separator: "."),
                    "This is for a `store` that begins with `postgres://`; a file has no password.")
            }
            return store
        }
        configuration.passwordFile = file ?? credential.map { "\(credentialsDirectory)/\($0)" }
        return .postgres(configuration)
    }
}
