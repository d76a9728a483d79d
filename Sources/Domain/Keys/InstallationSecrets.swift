/// A secret that an installation makes for itself at random, and that its store keeps sealed.
package enum InstallationSecret: String, Sendable, CaseIterable {
    /// Makes the hashes that erased users' withdrawals and guardians' rescissions leave behind.
    case tombstones
    /// Authenticates the tokens of pages.
    case pageToken

    /// What it is for, in the middle of a sentence.
    package var purpose: String {
        switch self {
        case .tombstones: "the key of what erased users' withdrawals and guardians' rescissions have left"
        case .pageToken: "the key of page tokens"
        }
    }
}

/// Makes, seals and opens the secrets of an installation.
///
/// It is called within transactions of the store: nothing here waits, or calls the store.
package protocol InstallationSecrets: Sendable {
    /// The time of day.
    var now: WallClock { get }

    /// The ids of the master keys whose loss the operator accepts at this start.
    var acceptedLosses: Set<String> { get }

    /// Whether the installation has the master key of this id, as the present one or an earlier one.
    func holds(masterKeyID: String) -> Bool

    /// Draws a secret at random and seals it.
    ///
    /// - Throws: `keyUnavailable`
    func make(_ secret: InstallationSecret) throws(ServiceError) -> SealedSecretRecord

    /// Seals a secret that an earlier release has kept in clear.
    ///
    /// - Throws: `keyUnavailable`
    func seal(_ clear: [UInt8], as secret: InstallationSecret) throws(ServiceError) -> SealedSecretRecord

    /// What computes authentication codes (HMAC-SHA-256, RFC 2104) under a kept secret; a code that cannot be computed is
    /// empty, which is no code.
    ///
    /// - Throws: `keyUnavailable`, whose message says why it does not open.
    func authenticator(_ kept: SealedSecretRecord) throws(ServiceError) -> @Sendable ([UInt8]) -> [UInt8]
}

/// What became of a secret of the installation when its store was opened.
package enum InstallationSecretState: Sendable, Equatable {
    /// It is as it was, or was made just now for a store that had none.
    case open
    /// An earlier release had kept it in clear: it is sealed now, and what stood in clear is overwritten.
    case sealed
    /// It does not open and nothing in the store depends on it. It was set aside under another name, still sealed; a new secret is in
    /// use.
    case replaced(because: String)
    /// It does not open, and what is kept depends on it.
    case closed(because: String)
}
