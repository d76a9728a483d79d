import Foundation

/// What is decided about receipts.
///
/// Pure, so that every store gives the same answers: a store loads what is known, asks here, and writes within one
/// transaction.
package enum ReceiptRules {
    /// How many of Apple's transactions are kept with a receipt, the newest ones first.
    package static let maximumApplePurchases = 1_000
    /// By how many identifiers a receipt is found again when somebody else sends a purchase of it, and linked to its user.
    package static let maximumIdentifiers = 200
    /// How long Apple may say that it does not know a receipt's transactions before that is believed.
    package static let unknownLimit = Duration.seconds(86_400)
    /// How long what Apple said counts as what it says now.
    package static let freshness = Duration.seconds(60)
    /// How long nobody else asks about a receipt that somebody asks about.
    package static let lease = Duration.seconds(60)
    /// The longest wait between two questions about a receipt.
    package static let longestWait = Duration.seconds(3_600)

    // MARK: Coming in

    /// The app that a receipt is of.
    ///
    /// - Throws: `invalidRequest` naming the field `receipt`.
    static func app(of content: ReceiptContent, among apps: [App]) throws(ServiceError) -> App {
        let named = apps.filter { $0.bundleID == content.bundleID }
        guard let first = named.first else {
            throw fault(
                "bundleId", "`receipt` is of an app that you have no access to here, or not of the app in the path.")
        }
        guard let environment = content.environment else { return first }
        guard let app = named.first(where: { $0.environments.contains(environment) }) else {
            throw fault(
                "ENVIRONMENT_NOT_ALLOWED",
                "`receipt` is of \(environment.rawValue), which app `\(first.slug)` is not configured for.")
        }
        return app
    }

    /// What a caller is told of a receipt that is nothing to go on.
    static func error(of fault: ReceiptFault) -> ServiceError {
        switch fault {
        case .undecodable(let text): self.fault("format", "`receipt` cannot be read: \(text).")
        case .xcode:
            self.fault("XCODE_ENVIRONMENT", "`receipt` was signed by Xcode, which proves nothing; it is refused here.")
        case .signature(let fault): self.fault(fault.rawValue, "`receipt` is not signed by Apple.")
        case .busy:
            ServiceError(
                .verificationBusy, "As many signatures as can be checked at once are being checked; try again.",
                retryAfter: .seconds(1))
        }
    }

    private static func fault(_ rule: String, _ message: String) -> ServiceError {
        .invalid([Violation(field: "receipt", rule: rule, message: message)])
    }

    /// A receipt as it stands when it came for the first time.
    static func draft(
        id: String, digest: [UInt8], _ upload: ReceiptUpload, _ content: ReceiptContent, of app: App, isRawKept: Bool,
        at now: Date
    ) -> Receipt {
        // Nothing was bought, and what the receipt says is proven: there is nothing to ask Apple about.
        let isComplete = content.isVerified && !content.purchases.contains { $0.transactionID != nil }
        return Receipt(
            id: id, app: app.slug, digest: digest, createdAt: now, updatedAt: now, content: content,
            state: isComplete ? .confirmed : .queued,
            flags: content.deviceCheck == .mismatch ? [.deviceMismatch] : [], environment: content.environment,
            user: upload.user, countryCode: upload.countryCode, identifierForVendor: upload.identifierForVendor,
            ipAddress: upload.ipAddress, metadata: upload.metadata, raw: isRawKept ? upload.receipt : nil,
            nextAttemptAt: isComplete ? nil : now.advanced(by: lease))
    }

    /// What a receipt is after it came again: what was sent anew replaces what was sent before, and what was not sent stays, but
    /// for the address, which is always that of the newest upload.
    ///
    /// - Parameters:
    ///   - known: as it is kept.
    ///   - draft: as it would be if it were new.
    /// - Returns: as it is to be kept; `nextAttemptAt` is nil where what Apple said is new enough.
    package static func update(_ known: Receipt, with draft: Receipt) -> Receipt {
        var receipt = known
        receipt.updatedAt = draft.updatedAt
        receipt.content.deviceCheck =
            draft.content.deviceCheck == .unchecked ? known.content.deviceCheck : draft.content.deviceCheck
        receipt.flags = flags(known.flags, [.deviceMismatch: receipt.content.deviceCheck == .mismatch])
        // What was sent for another user says nothing of this one, and must not outlive that one's erasure.
        let isSameUser = draft.user == nil || known.user == nil || draft.user == known.user
        receipt.user = draft.user ?? known.user
        receipt.countryCode = draft.countryCode ?? known.countryCode
        receipt.identifierForVendor = draft.identifierForVendor ?? (isSameUser ? known.identifierForVendor : nil)
        receipt.ipAddress = draft.ipAddress
        receipt.metadata = draft.metadata ?? (isSameUser ? known.metadata : nil)
        receipt.raw = draft.raw ?? known.raw
        let isFresh =
            known.state == .confirmed && known.nextAttemptAt == nil
            && known.checkedAt.map { abs(draft.updatedAt.timeIntervalSince($0)) < freshness / .seconds(1) } ?? true
        // Whoever is named only now is linked by what Apple says now.
        let isNewUser = draft.user != nil && draft.user != known.user
        if draft.nextAttemptAt != nil, !isFresh || isNewUser { receipt.nextAttemptAt = draft.nextAttemptAt }
        return receipt
    }

    // MARK: Asking

    /// The transactions to ask Apple about, the newest first, one of each purchase, and no more than a few: whichever Apple knows
    /// tells of the whole Apple Account.
    static func questions(about content: ReceiptContent) -> [String] {
        var originals: Set<String> = []
        let newest = content.purchases.sorted { ($0.purchaseDate ?? .distantPast) > ($1.purchaseDate ?? .distantPast) }
        // Not lazily, which would look at each more than once and take the second look for a repetition.
        let ids = newest.filter { $0.original.map { originals.insert($0).inserted } ?? false }
            .compactMap(\.transactionID)
        return Array(ids.prefix(maximumQuestions))
    }

    private static let maximumQuestions = 3

    /// The environments to ask in, in their order.
    static func environments(of receipt: Receipt, app: App) -> [AppStoreEnvironment] {
        let own = receipt.content.environment
        return AppStoreEnvironment.allCases.filter(app.environments.contains)
            .sorted { $0 == own && $1 != own }
    }

    // MARK: What it comes to

    /// What a receipt is after Apple was asked.
    ///
    /// - Parameters:
    ///   - receipt: as it is kept.
    ///   - conclusion: what came of it.
    ///   - hasLinkConflict: whether a link of another user stands against one that the receipt would have taught.
    ///   - users: how many users have sent the purchase of it that most have sent.
    /// - Returns: as it is to be kept.
    package static func conclude(
        _ receipt: Receipt, _ conclusion: ReceiptConclusion, hasLinkConflict: Bool, users: Int
    ) -> Receipt {
        var result = receipt
        switch conclusion.outcome {
        case .known(let transactions):
            result.attempts = 0
            result.unknownSince = nil
            result.checkedAt = conclusion.at
            result.nextAttemptAt = nil
            result.apple = merged(receipt, transactions, at: conclusion.at)
            result.appTransactionID = transactions.lazy.compactMap(\.appTransactionID).first ?? receipt.appTransactionID
            result.environment = transactions.first?.environment ?? receipt.environment
            let isContradicted = isContradicted(receipt.content, by: transactions)
            result.state = isContradicted ? .fraud : .confirmed
            result.fraudReason = isContradicted ? .contradicted : nil
            let isRevoked = result.apple.values.contains { $0.revocationDate != nil }
            result.flags = flags(
                receipt.flags,
                [
                    .revoked: isRevoked, .linkConflict: hasLinkConflict,
                    .severalUsers: users > conclusion.usersPerTransaction,
                ])
        case .otherApp:
            result = Self.fraud(.otherApp, receipt, at: conclusion.at)
        case .unknown:
            result.attempts += 1
            result.nextAttemptAt = conclusion.nextAttemptAt
            guard receipt.state != .confirmed else {
                // Apple has known it, which is not undone.
                result.attempts = 0
                result.nextAttemptAt = nil
                break
            }
            if conclusion.isTimeCertain {
                let since = receipt.unknownSince ?? conclusion.at
                result.unknownSince = min(since, conclusion.at)
                if receipt.state == .fraud || since.advanced(by: unknownLimit) <= conclusion.at {
                    result = Self.fraud(receipt.fraudReason ?? .unknown, receipt, at: conclusion.at)
                    result.unknownSince = since
                }
            }
        case .unanswered:
            result.attempts += 1
            result.nextAttemptAt = conclusion.nextAttemptAt
        }
        if isNews(result, after: receipt) { result.updatedAt = conclusion.at }
        return result
    }

    /// Whether anything is other than it was, but for when Apple was asked.
    private static func isNews(_ receipt: Receipt, after known: Receipt) -> Bool {
        receipt.state != known.state || receipt.fraudReason != known.fraudReason || receipt.flags != known.flags
            || receipt.apple.mapValues(\.version) != known.apple.mapValues(\.version)
    }

    /// What is told of a change; nil where nothing changed that anybody would ask for.
    package static func event(from known: Receipt, to receipt: Receipt) -> ServiceEvent.Kind? {
        guard isNews(receipt, after: known) else { return nil }
        if receipt.state == known.state, receipt.fraudReason == known.fraudReason { return .receiptChanged }
        return switch receipt.state {
        case .queued: nil
        case .confirmed: .receiptConfirmed
        case .fraud: .receiptFraud
        }
    }

    private static func fraud(_ reason: ReceiptFraud, _ receipt: Receipt, at now: Date) -> Receipt {
        var result = receipt
        result.state = .fraud
        result.fraudReason = reason
        result.attempts = 0
        result.checkedAt = now
        result.nextAttemptAt = nil
        return result
    }

    /// Whether a receipt that nobody has signed says something else of its transaction than Apple.
    package static func isContradicted(_ content: ReceiptContent, by transactions: [Transaction]) -> Bool {
        guard !content.isVerified else { return false }
        return content.purchases.contains { said in
            guard let transaction = transactions.first(where: { $0.transactionID == said.transactionID }) else {
                return false
            }
            return said.productID.map { $0 != transaction.productID } ?? false
                || said.originalTransactionID.map { $0 != transaction.originalTransactionID } ?? false
        }
    }

    private static func flags(_ known: [ReceiptFlag], _ changes: [ReceiptFlag: Bool]) -> [ReceiptFlag] {
        var flags = Set(known)
        for (flag, isSet) in changes {
            if isSet { flags.insert(flag) } else { flags.remove(flag) }
        }
        return flags.sorted()
    }
}
