package import Domain
import Foundation
import HTTPTypes
import HummingbirdCore
import NIOCore

/// What the proxy does with a call that its caller may make: passes it on, or sends consumption by the one way out.
package struct AppleProxyCalls: Sendable {
    private let environment: AppStoreEnvironment
    private let proxy: any AppleProxy
    private let consumption: ConsumptionService
    private let tokens: TokenService

    package init(
        environment: AppStoreEnvironment, proxy: any AppleProxy, consumption: ConsumptionService, tokens: TokenService
    ) {
        self.environment = environment
        self.proxy = proxy
        self.consumption = consumption
        self.tokens = tokens
    }

    /// Which of Apple's calls a request means.
    func match(_ request: Request) -> AppleProxyMatch {
        proxy.match(method: request.method.rawValue, path: request.uri.path)
    }

    /// Checks that the app may be used in the environment behind this door.
    ///
    /// - Throws: `environmentNotAllowed`.
    func requireEnvironment(of app: App) throws(ServiceError) {
        try app.require(environment)
    }

    /// Makes the call.
    ///
    /// - Parameters:
    ///   - call: what the request means.
    ///   - request: the request.
    ///   - headers: the fields of its head that are read.
    ///   - body: its body, whole.
    ///   - bearer: who asks, and for which app.
    ///   - deadline: no wait lasts beyond this.
    /// - Returns: Apple's answer, or one like it.
    /// - Throws: what the door, the rules of consumption or its service throw.
    func answer(
        _ call: AppleProxyCall, _ request: Request, _ headers: RequestHeaders, _ body: [UInt8],
        _ bearer: (caller: Caller, app: App),
        deadline: ContinuousClock.Instant
    ) async throws(ServiceError) -> Response {
        let upstream = UpstreamCall(
            app: bearer.app, environment: environment, deadline: deadline, caller: bearer.caller.name)
        switch call.kind {
        case .consumption(let version, let transactionID):
            let request = ConsumptionService.Request(
                caller: bearer.caller.name, target: .transaction(transactionID),
                answer: try Self.consumption(version, body, bearer.app), environment: environment,
                wait: max(.zero, ContinuousClock.now.duration(to: deadline)))
            // What has been accepted reaches Apple, also when that takes longer than the program waits.
            _ = try await consumption.send(request, upstream)
            return Response(status: .accepted)
        case .forwarded, .imageUpload:
            let answer = try await proxy.forward(Self.forwarded(request, headers, body), upstream)
            return Self.response(answer)
        case .appAccountToken(let original):
            let answer = try await proxy.forward(Self.forwarded(request, headers, body), upstream)
            if answer.status == 200, let token = Self.acceptedToken(in: body) {
                try await tokens.record(token, of: original, app: bearer.app, environment)
            }
            return Self.response(answer)
        }
    }

    /// The token in a body that Apple has accepted.
    private static func acceptedToken(in body: [UInt8]) -> String? {
        guard var fields = try? FieldReader(body: FieldValue.fields(of: body)) else { return nil }
        return fields.text("appAccountToken")
    }

    private static func forwarded(
        _ request: Request, _ headers: RequestHeaders, _ body: [UInt8]
    ) -> AppleProxyRequest {
        let takesBody = request.method == .put || request.method == .post
        return AppleProxyRequest(
            method: request.method.rawValue, path: request.uri.path, query: request.uri.query,
            contentType: takesBody ? headers[.contentType] : nil, body: takesBody ? body : nil)
    }

    private static func response(_ answer: AppleProxyResponse) -> Response {
        var headers: HTTPFields = [:]
        headers[.contentType] = answer.contentType
        headers[.retryAfter] = answer.retryAfter
        return Response(
            status: HTTPResponse.Status(code: answer.status), headers: headers,
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: answer.body)))
    }

    /// Reads the body of a consumption call by the same rules as everywhere.
    private static func consumption(
        _ version: DeliveryVersion, _ body: [UInt8], _ app: App
    ) throws(ServiceError) -> ConsumptionAnswer {
        try FieldReader.read(try FieldValue.fields(of: body)) { fields in
            switch version {
            case .v2: ConsumptionRules.version2(&fields, passThrough: app.additionalConsumptionFields).answer
            case .v1: ConsumptionRules.version1(&fields).answer
            }
        }
    }
}
