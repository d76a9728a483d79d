/// A part of an answer about a user that could not be read.
package struct AccountGap: Sendable {
    /// What was asked.
    package enum Part: String, Sendable, Hashable {
        /// Which Apple Account an identifier belongs to.
        case account
        case transactions
        case refunds
        case subscriptions
    }

    package let part: Part
    /// The identifier by which Apple was asked.
    package let target: LinkTarget
    package let environment: AppStoreEnvironment?
    package let error: ServiceError

    package init(part: Part, target: LinkTarget, environment: AppStoreEnvironment?, error: ServiceError) {
        self.part = part
        self.target = target
        self.environment = environment
        self.error = error
    }
}
