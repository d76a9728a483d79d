package import Foundation

/// How long a token lives and how it is dated.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi/generating-json-web-tokens-for-api-requests
package struct TokenPolicy: Sendable, Equatable {
    /// Apple accepts no longer life, measured from `iat` to `exp`.
    package static let appleMaximumLifetime: TimeInterval = 60 * 60

    /// From now to `exp`, in seconds.
    package let lifetime: TimeInterval
    /// How far `iat` is set back, in seconds, for clocks that differ.
    package let backdating: TimeInterval
    /// The share of its life during which a token is handed out.
    package let reuseShare: Double
    /// The share of its life after which it is replaced in the background.
    package let refreshShare: Double
    /// The least time between two mints that Apple's refusals force, for one key.
    package let refusalInterval: Duration

    package static let standard = TokenPolicy(
        lifetime: 20 * 60, backdating: 30, reuseShare: 0.8, refreshShare: 0.7, refusalInterval: .seconds(60))

    package init(
        lifetime: TimeInterval, backdating: TimeInterval, reuseShare: Double, refreshShare: Double,
        refusalInterval: Duration
    ) {
        precondition(lifetime + backdating < Self.appleMaximumLifetime, "Apple refuses tokens that live an hour")
        self.lifetime = lifetime
        self.backdating = backdating
        self.reuseShare = reuseShare
        self.refreshShare = refreshShare
        self.refusalInterval = refusalInterval
    }
}
