import AppStoreAPI
import JSON

/// What a call of Get Notification History asks for.
struct NotificationFilter: Sendable {
    private static let day: Int64 = 86_400_000

    /// UNIX milliseconds; only notifications signed from then on.
    let startDate: Int64
    /// UNIX milliseconds; only notifications signed before.
    let endDate: Int64
    let type: NotificationTypeV2?
    let subtype: Subtype?
    /// Any transaction of the customer.
    let transactionID: String?
    let onlyFailures: Bool

    /// How far back Apple's history reaches, in milliseconds.
    static func window(_ environment: SimulatedEnvironment) -> Int64 { (environment == .production ? 180 : 30) * day }

    /// Reads a request's body.
    ///
    /// - Parameters:
    ///   - body: the members of the request's body.
    ///   - environment: the server that is asked.
    ///   - now: UNIX milliseconds.
    /// - Throws: 4000000, 4000012, 4000013, 4000015, 4000016, 4000018 or 4000019.
    init(_ body: JSONMembers, in environment: SimulatedEnvironment, now: Int64) throws(Refusal) {
        startDate = try Self.date(body["startDate"], .invalidStartDate)
        endDate = try Self.date(body["endDate"], .invalidEndDate)
        guard startDate < endDate else { throw .error(.startDateAfterEndDate) }
        guard startDate >= now - Self.window(environment) else { throw .error(.startDateTooFarInPast) }
        type = try Self.text(body["notificationType"], .invalidNotificationType).map {
            NotificationTypeV2(rawValue: $0)
        }
        subtype = try Self.text(body["notificationSubtype"], .invalidNotificationType).map { Subtype(rawValue: $0) }
        transactionID = try Self.text(body["transactionId"], .invalidTransactionId)
        if let type {
            guard NotificationSubtypes.areKnown(type, subtype) else { throw .error(.invalidNotificationType) }
            guard transactionID == nil else { throw .error(.multipleFiltersSupplied) }
        } else if subtype != nil {
            throw .error(.invalidNotificationType, message: "A subtype needs its type")
        }
        let failures = body["onlyFailures"].flatMap { $0.isNull ? nil : $0 }
        guard let flag = failures.map(\.bool) ?? false else {
            throw .error(.generalBadRequest, message: "onlyFailures must be a boolean")
        }
        onlyFailures = flag
    }

    /// Whether a notification is wanted, whoever it is about; those that nobody has tried to send yet are none.
    func admits(_ notification: SentNotification) -> Bool {
        !notification.attempts.isEmpty && startDate..<endDate ~= notification.signedDate
            && (type ?? notification.draft.type) == notification.draft.type
            && (subtype == nil || subtype == notification.draft.subtype)
            && !(onlyFailures && notification.isDelivered)
    }

    /// The same for the same question.
    var canonicalText: String {
        "\(startDate) \(endDate) \(type?.rawValue ?? "-") \(subtype?.rawValue ?? "-") \(transactionID ?? "-") \(onlyFailures)"
    }

    private static func date(_ value: JSONSlice?, _ error: APIErrorCode) throws(Refusal) -> Int64 {
        guard let date = value?.int64, date >= 0 else { throw .error(error) }
        return date
    }

    private static func text(_ value: JSONSlice?, _ error: APIErrorCode) throws(Refusal) -> String? {
        guard let value, !value.isNull else { return nil }
        guard let text = value.string else { throw .error(error) }
        return text
    }
}
