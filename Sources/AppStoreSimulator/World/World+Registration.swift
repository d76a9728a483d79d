import OpenSSL

extension World {
    /// Registers a team's key, under the id given or a new one, which is returned.
    mutating func registerKey(
        _ publicKey: ECPublicKey, keyID: String?, issuerID: String
    ) throws(ControlError) -> String {
        guard !issuerID.isEmpty else { throw .invalid("the issuer id is empty") }
        let keyID = keyID ?? identifiers.key()
        guard !keyID.isEmpty else { throw .invalid("the key id is empty") }
        guard keys[keyID] == nil else { throw .conflict("key \(keyID) exists") }
        keys[keyID] = RegisteredKey(keyID: keyID, issuerID: issuerID, publicKey: publicKey)
        return keyID
    }

    mutating func revokeKey(_ keyID: String) throws(ControlError) {
        guard keys[keyID] != nil else { throw .notFound("there is no key \(keyID)") }
        keys[keyID]?.isRevoked = true
    }

    /// Registers an app, or changes what is known of it.
    mutating func register(_ app: RegisteredApp) throws(ControlError) {
        guard !app.bundleID.isEmpty, !app.issuerID.isEmpty else { throw .invalid("bundle id or issuer id is empty") }
        guard app.appAppleID > 0 else { throw .invalid("the app's Apple id must be positive") }
        apps[app.bundleID] = app
    }

    /// Creates an account, under the id given or a new one.
    mutating func createAccount(
        _ id: String?, in environment: SimulatedEnvironment, family: String?
    ) throws(ControlError) -> AppleAccount {
        let id = id ?? "account-\(accounts.count + 1)"
        guard !id.isEmpty else { throw .invalid("the account id is empty") }
        guard accounts[id] == nil else { throw .conflict("account \(id) exists") }
        let account = AppleAccount(id: id, environment: environment, family: family)
        accounts[id] = account
        return account
    }
}
