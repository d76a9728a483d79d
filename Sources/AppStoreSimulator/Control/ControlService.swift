import JSON
import OpenSSL

/// The control port: sets the scene, breaks things and shows what came in.
struct ControlService: Sendable {
    /// The longest request body that is read, in bytes.
    static let maximumBodyBytes = 1_048_576

    let state: SimulatorState
    let authority: SigningAuthority
    let receipts: ReceiptIssuer
    let tlsAuthority: Certificate

    /// Every route.
    static let routes: [ControlRoute] =
        healthRoutes + registrationRoutes + purchaseRoutes + faultRoutes + behaviourRoutes + observationRoutes
        + notificationRoutes + refundRequestRoutes + messagingRoutes + clockRoutes + subscriptionRoutes
        + extensionRoutes + appTransactionRoutes + receiptRoutes

    /// Answers a request.
    func respond(to request: IncomingRequest) -> OutgoingResponse {
        guard let body = request.body else {
            return Self.problem(413, "the body is longer than \(Self.maximumBodyBytes) bytes")
        }
        let matches = Self.routes.compactMap { route in
            route.parameters(of: request.path).map { (route: route, parameters: $0) }
        }
        guard !matches.isEmpty else { return Self.problem(404, "there is no path \(request.path)") }
        guard let match = matches.first(where: { $0.route.method == request.method }) else {
            let allowed = matches.map(\.route.method).joined(separator: ", ")
            var response = Self.problem(405, "the methods of \(request.path) are \(allowed)")
            response.headers.append(("Allow", allowed))
            return response
        }
        do throws(ControlError) {
            return try match.route.handler(
                self, ControlRequest(parameters: match.parameters, query: request.query, bytes: body))
        } catch {
            return Self.problem(error.status, error.description)
        }
    }

    private static func problem(_ status: Int, _ text: String) -> OutgoingResponse {
        .json(status, ["error": .string(text)])
    }

    // MARK: Health

    /// Whether the simulator is up, what it signs with, and starting over.
    static let healthRoutes = [
        ControlRoute("GET", "/health") { _, _ in .json(200, ["status": "ok"]) },
        ControlRoute("GET", "/certificates/root.pem") { service, _ throws(ControlError) in
            try pem(service.authority.root)
        },
        ControlRoute("GET", "/certificates/root.der") { service, _ in
            OutgoingResponse(status: 200, contentType: "application/pkix-cert", body: service.authority.root.der)
        },
        ControlRoute("GET", "/certificates/tls-ca.pem") { service, _ throws(ControlError) in
            try pem(service.tlsAuthority)
        },
        ControlRoute("POST", "/reset") { service, _ in
            service.state.reset()
            return OutgoingResponse(status: 204)
        },
    ]

    private static func pem(_ certificate: Certificate) throws(ControlError) -> OutgoingResponse {
        do throws(OpenSSLError) {
            return OutgoingResponse(
                status: 200, contentType: "application/x-pem-file", body: Array(try certificate.pem().utf8))
        } catch {
            throw .conflict(error.description)
        }
    }
}

/// One route of the control port.
struct ControlRoute: Sendable {
    typealias Handler = @Sendable (ControlService, ControlRequest) throws(ControlError) -> OutgoingResponse

    let method: String
    /// The path, with names in braces for parameters.
    let path: String
    let handler: Handler

    init(_ method: String, _ path: String, _ handler: @escaping Handler) {
        self.method = method
        self.path = path
        self.handler = handler
    }

    /// The path's parameters in order, or nil if it is another path.
    func parameters(of path: Substring) -> [String]? {
        let pattern = self.path.split(separator: "/", omittingEmptySubsequences: false)
        let segments = path.split(separator: "/", omittingEmptySubsequences: false)
        guard pattern.count == segments.count else { return nil }
        var parameters: [String] = []
        for (expected, segment) in zip(pattern, segments) {
            if expected.hasPrefix("{") {
                guard !segment.isEmpty else { return nil }
                parameters.append(String(percentDecoding: segment))
            } else if expected != segment {
                return nil
            }
        }
        return parameters
    }
}

/// Why the simulation cannot do what was asked of it.
package enum ControlError: Error, Sendable, Equatable, CustomStringConvertible {
    /// What was asked makes no sense.
    case invalid(String)
    /// It is about something that does not exist.
    case notFound(String)
    /// It contradicts the present state.
    case conflict(String)

    package var description: String {
        switch self {
        case .invalid(let reason), .notFound(let reason), .conflict(let reason): reason
        }
    }
}

extension ControlError {
    fileprivate var status: Int {
        switch self {
        case .invalid: 400
        case .notFound: 404
        case .conflict: 409
        }
    }
}
