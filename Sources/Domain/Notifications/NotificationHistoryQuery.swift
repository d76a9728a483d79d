package import Foundation

/// What Get Notification History is asked for; already checked.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi/notificationhistoryrequest
package struct NotificationHistoryQuery: Sendable, Hashable {
    /// UNIX milliseconds, inclusive.
    package let startDate: Int64
    /// UNIX milliseconds.
    package let endDate: Int64
    package var notificationType: String?
    /// Only together with a type.
    package var notificationSubtype: String?
    /// Never together with a type.
    package var transactionID: String?
    package var onlyFailures: Bool?

    package init(
        startDate: Int64, endDate: Int64, notificationType: String? = nil, notificationSubtype: String? = nil,
        transactionID: String? = nil, onlyFailures: Bool? = nil
    ) {
        self.startDate = startDate
        self.endDate = endDate
        self.notificationType = notificationType
        self.notificationSubtype = notificationSubtype
        self.transactionID = transactionID
        self.onlyFailures = onlyFailures
    }
}

// MARK: From a request

extension NotificationHistoryQuery {
    /// How far back Apple's history reaches, in days.
    static func windowDays(in environment: AppStoreEnvironment) -> Int {
        switch environment {
        case .production: 180
        case .sandbox: 30
        }
    }

    /// Apple's clock decides; ours may be this much ahead of it, in seconds.
    static let clockTolerance: TimeInterval = 300

    /// Reads the query from a request body; nil when a rule is broken.
    ///
    /// Types and subtypes that Apple may add are not refused here: any name of capitals, digits and underscores is taken.
    ///
    /// - Parameters:
    ///   - fields: the request; only its body is read.
    ///   - environment: decides how far back the history reaches.
    ///   - now: the time of day.
    package init?(_ fields: inout FieldReader, environment: AppStoreEnvironment, now: Date) {
        let (hasType, hasSubtype) = (fields.holds("notificationType"), fields.holds("notificationSubtype"))
        let hasTransaction = fields.holds("transactionId")
        let start = fields.milliseconds("startDate", AppleErrorName("InvalidStartDateError", 4_000_015))
        let end = fields.milliseconds("endDate", AppleErrorName("InvalidEndDateError", 4_000_016))
        let type = fields.notificationName("notificationType")
        let subtype = fields.notificationName("notificationSubtype")
        let transaction = fields.string(
            "transactionId", isRequired: false, expected: "a transaction id", AppleIdentifier.transaction.appleError,
            where: AppleIdentifier.transaction.isValid)
        let onlyFailures = fields.boolean(
            "onlyFailures", isRequired: false, AppleErrorName("GeneralBadRequestError", 4_000_000))
        if let start, let end, end <= start {
            fields.note(
                "endDate", "order", "`endDate` must be later than `startDate`.", AppleErrorName.startDateAfterEndDate)
        }
        let days = Self.windowDays(in: environment)
        let earliest = now.timeIntervalSince1970 - TimeInterval(days) * 86_400 - Self.clockTolerance
        if let start, TimeInterval(start) / 1000 < earliest {
            fields.note(
                "startDate", "window", "`startDate` may lie at most \(days) days back in \(environment.rawValue).",
                AppleErrorName("StartDateTooFarInPastError", 4_000_012))
        }
        if hasSubtype, !hasType {
            fields.note(
                "notificationSubtype", "dependency",
                "`notificationSubtype` needs the `notificationType` it belongs to.",
                .notificationType)
        }
        if hasTransaction, hasType {
            fields.note(
                "transactionId", "exclusive", "Give `transactionId` or `notificationType`, not both.",
                AppleErrorName("MultipleFiltersSuppliedError", 4_000_019))
        }
        guard let start, let end else { return nil }
        self.init(
            startDate: start, endDate: end, notificationType: type, notificationSubtype: subtype,
            transactionID: transaction, onlyFailures: onlyFailures)
    }
}

extension FieldReader {
    /// The name of a notification type or subtype, known or not.
    fileprivate mutating func notificationName(_ name: String) -> String? {
        string(
            name, isRequired: false, expected: "1 to 64 capitals, digits and underscores", .notificationType
        ) { text in
            (1...64).contains(text.utf8.count)
                && text.utf8.allSatisfy { byte in
                    switch byte {
                    case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
                        UInt8(ascii: "_"):
                        true
                    default: false
                    }
                }
        }
    }
}

extension AppleErrorName {
    /// Apple's refusal of a type or subtype that does not exist or does not go together.
    fileprivate static let notificationType = AppleErrorName("InvalidNotificationTypeError", 4_000_018)
    /// Apple's refusal of a span of time that ends before it begins.
    static let startDateAfterEndDate = AppleErrorName("StartDateAfterEndDateError", 4_000_013)
}
