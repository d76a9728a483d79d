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

extension AccountGap {
    /// A link that was declared for one environment, to an identifier that Apple knows in the other.
    ///
    /// - Returns: nil where the link was declared for none, or has ended.
    static func misplaced(_ account: AccountResolver.Account, _ environment: AppStoreEnvironment) -> AccountGap? {
        guard let declared = account.declared, !account.isEnded else { return nil }
        let name = "`\(account.target.kind.rawValue)` `\(account.target.value)`"
        return AccountGap(
            part: .account, target: account.target, environment: declared,
            error: ServiceError(
                .linkEnvironmentWrong,
                "The link to \(name) is for \(declared.rawValue), but Apple knows it in \(environment.rawValue); end the link, and declare it with `?environment=\(environment.rawValue)`."
            ))
    }
}

extension ServiceError {
    /// Apple's errors about an identifier that it does not know or takes for none.
    ///
    /// Source: https://developer.apple.com/documentation/appstoreserverapi/error-codes: InvalidTransactionIdError,
    /// InvalidOriginalTransactionIdError, AccountNotFoundError, OriginalTransactionIdNotFoundError,
    /// TransactionIdNotFoundError. That the app is not found is our configuration's fault, and not among them.
    private static let unknownIdentifierCodes: Set<Int64> = [4_000_006, 4_000_008, 4_040_001, 4_040_005, 4_040_010]

    /// Whether Apple says that it does not know the identifier that it was asked about.
    var isUnknownIdentifier: Bool {
        reason == .appleRejected && apple?.errorCode.map(Self.unknownIdentifierCodes.contains) == true
    }

    /// Why signed data is not passed on that names another app.
    package static let otherAppCause = "bundleId is not the app's"

    /// Whether what Apple answered is signed for another app.
    var isOfAnotherApp: Bool { reason == .appleAnswerInvalid && cause == Self.otherAppCause }

    /// The same failure, told of the identifier that Apple was asked about.
    func asked(about target: LinkTarget) -> ServiceError {
        ServiceError(
            reason, "\(message) Apple was asked about `\(target.kind.rawValue)` `\(target.value)`.", cause: cause,
            retryAfter: retryAfter, violations: violations, apple: apple, delivery: delivery, cases: cases)
    }
}
