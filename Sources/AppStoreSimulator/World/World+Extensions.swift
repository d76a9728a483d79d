import AppStoreAPI

extension World {
    /// How often a subscription can be extended in a year.
    private static let extensionsInYear = 2
    /// 365 days, in milliseconds.
    private static let year: Int64 = 365 * 86_400_000
    private static let day: Int64 = 86_400_000

    // MARK: One

    /// Extends the present period of a subscription, for family members too; what was done under the identifier already
    /// is not done again.
    ///
    /// - Parameters:
    ///   - record: the original transaction.
    ///   - days: by how much.
    ///   - requestIdentifier: what the caller names the request.
    ///   - now: UNIX milliseconds.
    /// - Returns: What was done.
    /// - Throws: 4030004, 4030005 or 4030007.
    mutating func extendRenewalDate(
        of record: TransactionRecord, byDays days: Int64, _ requestIdentifier: String, now: Int64
    ) throws(AppleServiceError) -> GrantedExtension {
        guard record.payload.inAppOwnershipType == .purchased else {
            throw .error(.familySharedSubscriptionExtensionIneligible)
        }
        guard let id = subscriptionID(of: record), let subscription = subscriptions[id],
            let latest = latestPeriod(of: record), let latestID = latest.payload.transactionId,
            let end = latest.payload.expiresDate
        else { throw .error(.subscriptionExtensionIneligible) }
        if let done = subscription.extensions.first(where: { $0.requestIdentifier == requestIdentifier }) {
            return done
        }
        guard status(ofLatest: latest, at: now) == .active, latest.payload.offerDiscountType != .freeTrial,
            hasPaid(id, latest.customer)
        else { throw .error(.subscriptionExtensionIneligible) }
        guard subscription.extensions.count(where: { $0.date > now - Self.year }) < Self.extensionsInYear else {
            throw .error(.subscriptionMaxExtension)
        }
        let effectiveDate = end + days * Self.day
        let sharing = shares(of: latest).filter { records[$0]?.payload.revocationDate == nil }
        for transactionID in siblings(of: latest) + sharing {
            modify(transactionID) { $0.expiresDate = effectiveDate }
        }
        let done = GrantedExtension(
            requestIdentifier: requestIdentifier, date: now, lineItem: latest.payload.webOrderLineItemId,
            effectiveDate: effectiveDate)
        subscriptions[id]?.extensions.append(done)
        for transactionID in [latestID] + sharing { emit(.renewalExtended, about: transactionID, at: now) }
        return done
    }

    /// Whether the customer has paid for a period of a subscription.
    private func hasPaid(_ id: String, _ customer: Customer) -> Bool {
        records(of: customer).map(\.payload).contains {
            $0.originalTransactionId == id && $0.offerDiscountType != .freeTrial && $0.price ?? 0 > 0
        }
    }

    // MARK: All

    func massExtension(_ requestIdentifier: String, of app: AppInEnvironment) -> MassExtension? {
        massExtensions.first { $0.app == app && $0.requestIdentifier == requestIdentifier }
    }

    /// Takes the extension of all active subscriptions to a product on, those in a grace period included, which will fail.
    mutating func begin(_ massExtension: MassExtension, now: Int64) {
        var massExtension = massExtension
        let candidates = subscriptions.keys.filter { id in
            guard let latest = latestPeriod(of: id), latest.environment == massExtension.app.environment,
                latest.customer.bundleID == massExtension.app.bundleID,
                latest.payload.productId == massExtension.productID
            else { return false }
            let isListed = massExtension.storefronts?.contains(latest.payload.storefront ?? "") ?? true
            let status = status(ofLatest: latest, at: now)
            return isListed && (status == .active || status == .billingGracePeriod)
        }
        massExtension.pending = candidates.sorted()[...]
        massExtension.nextStepDate = now + massExtensionPace
        massExtensions.append(massExtension)
    }

    /// Deals with one subscription of a mass extension, and ends it with the last.
    mutating func proceed(massExtension index: Int, at date: Int64) {
        let present = massExtensions[index]
        if let id = massExtensions[index].pending.popFirst(), let record = records[id] {
            do throws(AppleServiceError) {
                _ = try extendRenewalDate(of: record, byDays: present.days, present.requestIdentifier, now: date)
                massExtensions[index].succeededCount += 1
            } catch {
                massExtensions[index].failedCount += 1
                emit(.renewalExtension, .failure, about: runs[id]?.latestID, at: date)
            }
        }
        guard massExtensions[index].pending.isEmpty else {
            massExtensions[index].nextStepDate = date + massExtensionPace
            return
        }
        massExtensions[index].nextStepDate = nil
        massExtensions[index].completeDate = date
        emit(massExtensions[index].summary, of: present.app, at: date)
    }
}

/// An extension of the renewal dates of all active subscribers, under way or finished.
struct MassExtension: Sendable {
    let app: AppInEnvironment
    /// A UUID in lower case.
    let requestIdentifier: String
    let productID: String
    let days: Int64
    /// ISO 3166-1 alpha-3; nil for all.
    let storefronts: [String]?
    /// The subscriptions that are still to be dealt with.
    var pending: ArraySlice<String>
    var succeededCount: Int64 = 0
    var failedCount: Int64 = 0
    /// When the next subscription is dealt with, UNIX milliseconds; nil when all are.
    var nextStepDate: Int64?
    /// UNIX milliseconds.
    var completeDate: Int64?

    /// What the notification at its end says.
    var summary: Summary {
        Summary {
            $0.productId = productID
            $0.requestIdentifier = requestIdentifier
            $0.storefrontCountryCodes = storefronts
            $0.succeededCount = succeededCount
            $0.failedCount = failedCount
        }
    }

    var response: MassExtendRenewalDateStatusResponse {
        MassExtendRenewalDateStatusResponse {
            $0.requestIdentifier = requestIdentifier
            $0.complete = completeDate != nil
            guard let completeDate else { return }
            $0.completeDate = completeDate
            $0.succeededCount = succeededCount
            $0.failedCount = failedCount
        }
    }
}

/// One extension of a subscription's renewal date.
struct GrantedExtension: Sendable {
    /// What the caller named it, by which a repetition is known.
    let requestIdentifier: String
    /// When it was made, UNIX milliseconds.
    let date: Int64
    /// The period that was extended: Apple's line item.
    let lineItem: String?
    /// When that period ends since, UNIX milliseconds.
    let effectiveDate: Int64
}
