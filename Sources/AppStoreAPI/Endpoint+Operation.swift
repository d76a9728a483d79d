extension Endpoint {
    /// Every call that Apple's server APIs take: the App Store Server API, Retention Messaging and Advanced Commerce.
    package enum Operation: Sendable, Hashable, CaseIterable {
        // App Store Server API.
        case getTransactionHistory
        case getTransactionHistoryV1
        case getTransactionInfo
        case getAppTransactionInfo
        case getAllSubscriptionStatuses
        case setAppAccountToken
        case lookUpOrderID
        case sendConsumptionInformation
        case sendConsumptionInformationV1
        case getRefundHistory
        case getRefundHistoryV1
        case extendSubscriptionRenewalDate
        case extendSubscriptionRenewalDatesForAllActiveSubscribers
        case getStatusOfSubscriptionRenewalDateExtensions
        case getNotificationHistory
        case requestTestNotification
        case getTestNotificationStatus
        case finishTransaction
        // Retention Messaging API.
        case uploadImage
        case deleteImage
        case getImageList
        case uploadMessage
        case deleteMessage
        case getMessageList
        case configureDefaultMessage
        case deleteDefaultMessage
        case getDefaultMessage
        case configureRealtimeURL
        case deleteRealtimeURL
        case getRealtimeURL
        case initiatePerformanceTest
        case getPerformanceTestResults
        // Advanced Commerce API, server calls.
        case requestRefund
        case cancelSubscription
        case revokeSubscription
        case changeSubscriptionMetadata
        case changeSubscriptionPrice
        case migrateSubscription

        /// The title of Apple's page for the call.
        package var name: String { specification.name }

        /// The HTTP method.
        package var method: String { specification.method.rawValue }

        /// The path, with names in braces for parameters; paths are case-sensitive.
        package var pathTemplate: String { specification.pathTemplate }

        /// Which of Apple's APIs it belongs to.
        package var api: API { specification.api }

        /// When the call may be made again although Apple may have received it already.
        package var repetition: Repetition { specification.repetition }

        /// Whether Apple's sandbox has the call.
        package var isInSandbox: Bool { specification.isInSandbox }
    }

    /// Apple's server APIs that share hosts, keys and tokens.
    package enum API: String, Sendable, Hashable, CaseIterable {
        case appStoreServer = "App Store Server API"
        case retentionMessaging = "Retention Messaging API"
        case advancedCommerce = "Advanced Commerce API"
    }

    /// When a call may be made again although Apple may have received it already.
    package enum Repetition: Sendable, Hashable {
        /// Always: it reads, or replaces a value by the same value.
        case safe
        /// With the identifier that the body carries, by which Apple recognises it.
        case sameIdentifier
        /// Never: each call has an effect of its own.
        case never
    }
}

extension Endpoint.Operation {
    /// Which call a method and a path mean.
    package enum Match: Sendable, Equatable {
        /// The call with its path parameters, in the order of the path, still percent-encoded.
        case found(Endpoint.Operation, parameters: [Substring])
        /// The path is right, the method is not.
        case otherMethod(allowed: [String])
        case unknown
    }

    /// Finds the call of a request.
    ///
    /// Paths are compared case by case. Where several fit, the one wins that is spelt out where they differ first: so
    /// `PUT …/transactions/consumption/appAccountToken` is an answer about a transaction, however odd its id, and never the
    /// token of a purchase.
    ///
    /// - Parameters:
    ///   - method: the HTTP method, in capitals.
    ///   - path: the path without query, percent-encoded.
    /// - Returns: the call, or why there is none.
    package static func match(method: String, path: Substring) -> Match {
        let segments = path.split(separator: "/", omittingEmptySubsequences: false)
        let fitting = templates.filter { $0.fits(segments) }
        guard let best = fitting.min(by: { $0.isSpeltOutEarlier(than: $1) }) else { return .unknown }
        let candidates = fitting.filter { !best.isSpeltOutEarlier(than: $0) }
        guard let template = candidates.first(where: { $0.operation.method == method }) else {
            return .otherMethod(allowed: candidates.map(\.operation.method))
        }
        return .found(template.operation, parameters: template.parameters(of: segments))
    }

    private struct Template: Sendable {
        let operation: Endpoint.Operation
        let segments: [Substring]

        /// Whether it has a literal where another, which fits the same path, has a parameter first.
        func isSpeltOutEarlier(than other: Template) -> Bool {
            for (segment, others) in zip(segments, other.segments) where segment.hasPrefix("{") != others.hasPrefix("{")
            {
                return others.hasPrefix("{")
            }
            return false
        }

        func fits(_ path: [Substring]) -> Bool {
            path.count == segments.count
                && zip(segments, path).allSatisfy { $0.hasPrefix("{") ? !$1.isEmpty : $0 == $1 }
        }

        func parameters(of path: [Substring]) -> [Substring] {
            zip(segments, path).compactMap { $0.hasPrefix("{") ? $1 : nil }
        }
    }

    private static let templates = allCases.map { operation in
        Template(
            operation: operation,
            segments: operation.pathTemplate.split(separator: "/", omittingEmptySubsequences: false))
    }
}
