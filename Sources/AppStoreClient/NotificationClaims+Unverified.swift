import Domain
import Foundation
import JOSE
import JSON

extension NotificationClaims {
    /// What a signed notification says of itself, without looking at a signature; nothing where it cannot be read.
    init(unverified signed: String) {
        self.init()
        guard let members = Self.members(of: signed) else { return }
        let origin = SignedDataOrigin(of: .notification, members)
        notificationUUID = members["notificationUUID"]?.string?.streamSafe
        environment = origin.environment.flatMap(AppStoreEnvironment.init(rawValue:))
        signedAt = origin.signedDate.map(Date.init(milliseconds:))
        let parts = [
            members["data"]?.object?["signedTransactionInfo"]?.string?.streamSafe,
            members["appData"]?.object?["signedAppTransactionInfo"]?.string?.streamSafe,
        ]
        for part in parts.compactMap({ $0.flatMap(Self.members) }) {
            for kind in LinkTarget.Kind.allCases where !identifiers.contains(where: { $0.kind == kind }) {
                guard let value = part[kind.rawValue]?.string?.streamSafe else { continue }
                identifiers.insert(LinkTarget(kind, value))
            }
        }
    }

    fileprivate static func members(of signed: String) -> JSONMembers? {
        guard let payload = try? CompactJWS(signed).decodePayload() else { return nil }
        return try? JSONScanner.members(of: payload)
    }
}

extension NotificationSubject {
    /// Reads it out of a compact JWS without verifying anything.
    init(unverified signed: String) {
        self.init()
        guard let members = NotificationClaims.members(of: signed) else { return }
        let origin = SignedDataOrigin(of: .notification, members)
        bundleID = origin.bundleID
        appAppleID = origin.appAppleID
        type = members["notificationType"]?.string?.streamSafe
        subtype = members["subtype"]?.string?.streamSafe
    }
}
