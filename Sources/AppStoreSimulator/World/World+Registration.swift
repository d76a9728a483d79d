package import OpenSSL

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

/// An In-App Purchase key as Apple knows it: the public half, and whose it is.
package struct RegisteredKey: Sendable {
    /// `kid` of the tokens that it signs.
    package let keyID: String
    /// `iss` of the tokens that it signs: the team.
    package let issuerID: String
    package let publicKey: ECPublicKey
    /// A revoked key stays known by its id, but signs nothing any more.
    package var isRevoked = false
}

/// An app as App Store Connect knows it.
package struct RegisteredApp: Sendable, Hashable {
    package let bundleID: String
    package let appAppleID: Int64
    /// The team that it belongs to; only its keys may ask about the app.
    package let issuerID: String
    /// An app that was never released is refused by production whatever its token is.
    package let isReleasedToProduction: Bool

    package init(bundleID: String, appAppleID: Int64, issuerID: String, isReleasedToProduction: Bool = true) {
        self.bundleID = bundleID
        self.appAppleID = appAppleID
        self.issuerID = issuerID
        self.isReleasedToProduction = isReleasedToProduction
    }
}

/// An Apple Account in one environment.
package struct AppleAccount: Sendable, Hashable {
    package let id: String
    package let environment: SimulatedEnvironment
    /// Accounts of one family can share purchases with each other.
    package let family: String?
}
