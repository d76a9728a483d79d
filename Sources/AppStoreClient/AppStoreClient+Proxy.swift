import AppStoreAPI
import Curl
package import Domain
import Foundation
import JSON

// Apple's own calls, as a program with a library of Apple's makes them through us: which call a path means, what scope it
// takes, and how it goes on to Apple.

extension AppStoreClient: AppleProxy {
    package func match(method: String, path: String) -> AppleProxyMatch { AppleProxyMatch(method: method, path: path) }

    package func forward(_ request: AppleProxyRequest, _ call: UpstreamCall) async throws(ServiceError)
        -> AppleProxyResponse
    {
        guard let environment = call.environment, let upstream = UpstreamRequest(forwarding: request) else {
            throw ServiceError(.internalError, "Internal error.", cause: "forwarded without an environment or a call")
        }
        let result = await Call(self, upstream, call, in: environment).result()
        switch (result.outcome, result.refusal) {
        case (.success(let response), _), (.failure, let response?): return AppleProxyResponse(response)
        case (.failure(let failure), nil): throw failure.error
        }
    }
}

extension UpstreamRequest {
    /// A call as somebody else wrote it; nil when it is none of Apple's.
    fileprivate init?(forwarding request: AppleProxyRequest) {
        guard
            case .found(let operation, _) = Endpoint.Operation.match(method: request.method, path: request.path[...])
        else { return nil }
        self.init(
            operation, target: request.path + (request.query.map { "?\($0)" } ?? ""), contentType: request.contentType,
            body: request.body)
    }
}

extension AppleProxyResponse {
    fileprivate init(_ response: CurlResponse) {
        self.init(
            status: response.status, contentType: response.headers["Content-Type"],
            retryAfter: response.headers["Retry-After"], body: response.body)
    }
}

extension AppleProxyMatch {
    /// Which of Apple's calls a request means.
    ///
    /// A path parameter that could be taken for more than one segment, once somebody on the way decodes it, makes the path
    /// unknown: it would reach another call than the one that access was decided for.
    init(method: String, path: String) {
        switch Endpoint.Operation.match(method: method, path: path[...]) {
        case .unknown: self = .unknown
        case .otherMethod(let allowed): self = .otherMethod(allowed: allowed)
        case .found(let operation, let parameters):
            self = parameters.allSatisfy(Self.isPlain) ? .found(AppleProxyCall(operation, parameters)) : .unknown
        }
    }

    /// Whether a percent-encoded segment stands for nothing but itself: pchar of RFC 3986, section 3.3, without dot segments,
    /// and without encoded octets that a server might decode to separators.
    private static func isPlain(_ segment: Substring) -> Bool {
        guard let decoded = String(segment).removingPercentEncoding.map(UntrustedText.init(_:)), decoded != ".",
            decoded != "..", decoded.checked != nil
        else { return false }
        let isSegment = segment.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                true
            default: "-._~%!$&'()*+,=:@".utf8.contains(byte)
            }
        }
        return isSegment && !decoded.utf8.contains { $0 < 0x20 || $0 == 0x7F || "/\\?#%;".utf8.contains($0) }
    }
}

extension AppleProxyCall {
    /// A call of Apple's, as access and the one way out see it.
    ///
    /// `parameters`: those of the path, percent-encoded and plain.
    init(_ operation: Endpoint.Operation, _ parameters: [Substring]) {
        let first = parameters.first.flatMap { String($0).removingPercentEncoding } ?? ""
        let kind: Kind =
            switch operation {
            case .sendConsumptionInformation: .consumption(.v2, transactionID: first)
            case .sendConsumptionInformationV1: .consumption(.v1, transactionID: first)
            case .uploadImage: .imageUpload
            case .setAppAccountToken: .appAccountToken(originalTransactionID: first)
            default: .forwarded
            }
        self.init(name: operation.name, scope: operation.scope, kind: kind)
    }
}

extension Endpoint.Operation {
    /// What a caller of ours needs for the call.
    fileprivate var scope: Scope {
        switch self {
        case .getTransactionHistory, .getTransactionHistoryV1, .getTransactionInfo, .getAppTransactionInfo,
            .getAllSubscriptionStatuses, .lookUpOrderID:
            .transactionsRead
        case .setAppAccountToken, .finishTransaction: .transactionsWrite
        case .sendConsumptionInformation, .sendConsumptionInformationV1: .consumptionWrite
        case .getRefundHistory, .getRefundHistoryV1: .refundsRead
        case .extendSubscriptionRenewalDate, .extendSubscriptionRenewalDatesForAllActiveSubscribers,
            .getStatusOfSubscriptionRenewalDateExtensions:
            .extensionsWrite
        case .getNotificationHistory, .getTestNotificationStatus: .notificationsRead
        case .requestTestNotification: .notificationsTest
        case .uploadImage, .deleteImage, .getImageList, .uploadMessage, .deleteMessage, .getMessageList,
            .configureDefaultMessage, .deleteDefaultMessage, .getDefaultMessage, .configureRealtimeURL,
            .deleteRealtimeURL, .getRealtimeURL, .initiatePerformanceTest, .getPerformanceTestResults:
            .retentionMessagingManage
        case .requestRefund, .cancelSubscription, .revokeSubscription, .changeSubscriptionMetadata,
            .changeSubscriptionPrice, .migrateSubscription:
            .advancedCommerceManage
        }
    }
}
