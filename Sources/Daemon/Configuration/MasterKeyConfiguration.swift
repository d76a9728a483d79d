import KeyCustody

extension ConfigurationParser {
    /// Reads `masterKey`: where the key is that seals what the store keeps sealed.
    ///
    /// `store`: without a key of the operator's, the daemon keeps one beside it.
    mutating func masterKeySection(beside store: StoreLocation?) -> MasterKeySource? {
        let (filePath, credentialPath) = (["masterKey", "file"], ["masterKey", "credential"])
        let file = setting(filePath, as: .absolutePath)
        let credential = setting(credentialPath, as: .credentialName)
        let groupPath = ["masterKey", "allowGroupReadable"]
        let allowsGroupRead = setting(groupPath, as: .bool, default: false)
        if isGiven(filePath), isGiven(credentialPath) {
            report(place(of: credentialPath), key: "masterKey", "There are both `file` and `credential`; keep one.")
        }
        if isGiven(groupPath), !isGiven(filePath) {
            report(
                place(of: groupPath), key: groupPath.joined(separator: "."),
                "This is for `file` only; systemd itself sets the permissions of a credential.")
        }
        if let file { return .file(path: file, allowsGroupRead: allowsGroupRead) }
        if let credential { return .credential(path: "\(credentialsDirectory)/\(credential)") }
        if case .postgres = store {
            report(
                place(of: filePath), key: "masterKey",
                """
                With PostgreSQL this key is required, by `file` or `credential`: one that the daemon made for itself would be on \
                this host alone.
                """)
        }
        // Its name does not begin as the database's, so that what copies the database with its companions leaves it out.
        return store.map { .made(path: $0.companion("masterkey")) }
    }
}
