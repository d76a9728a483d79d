package import Domain
import Foundation

/// The secrets of an installation, behind a master key that is only a name: whoever knows it opens them.
package struct UnsealedSecrets: InstallationSecrets {
    package let now: WallClock
    package let acceptedLosses: Set<String>
    private let masterKeyID: String
    private let earlier: Set<String>
    private let authenticationCode: @Sendable (_ key: [UInt8], _ content: [UInt8]) -> [UInt8]

    /// - Parameters:
    ///   - masterKeyID: the name.
    ///   - earlier: the names of master keys that open and do not seal.
    ///   - acceptedLosses: the names of master keys whose loss is accepted.
    ///   - now: the time of day.
    ///   - authenticationCode: of a content under a key.
    package init(
        masterKeyID: String = "one", earlier: Set<String> = [], acceptedLosses: Set<String> = [],
        now: @escaping WallClock = { Date(timeIntervalSince1970: 1_700_000_000) },
        authenticationCode: @escaping @Sendable (_ key: [UInt8], _ content: [UInt8]) -> [UInt8] = {
            TestCode.authenticationCode($0 + $1)
        }
    ) {
        self.masterKeyID = masterKeyID
        self.earlier = earlier
        self.acceptedLosses = acceptedLosses
        self.now = now
        self.authenticationCode = authenticationCode
    }

    package func holds(masterKeyID: String) -> Bool {
        masterKeyID == self.masterKeyID || earlier.contains(masterKeyID)
    }

    package func make(_ secret: InstallationSecret) throws(ServiceError) -> SealedSecretRecord {
        try seal((0..<32).map { _ in UInt8.random(in: .min ... .max) }, as: secret)
    }

    package func seal(_ clear: [UInt8], as secret: InstallationSecret) throws(ServiceError) -> SealedSecretRecord {
        SealedSecretRecord(
            kind: .installation, name: secret.rawValue, sealed: clear.map { ~$0 }, masterKeyID: masterKeyID,
            createdAt: now())
    }

    package func authenticator(
        _ kept: SealedSecretRecord
    ) throws(ServiceError) -> @Sendable ([UInt8]) -> [UInt8] {
        guard holds(masterKeyID: kept.masterKeyID) else {
            throw ServiceError(
                .keyUnavailable,
                "secret \(kept.name) is sealed under master key \(kept.masterKeyID), and the one given is \(masterKeyID)"
            )
        }
        let key = kept.sealed.map { ~$0 }
        return { [authenticationCode] in authenticationCode(key, $0) }
    }
}
