import JSON
import OpenSSL

/// The control port: sets the scene, breaks things and shows what came in.
struct ControlService: Sendable {
    /// The longest request body that is read, in bytes.
    static let maximumBodyBytes = 1_048_576

    let state: SimulatorState
    let root: Certificate
    let tlsAuthority: Certificate

    /// Every route.
    static let routes: [ControlRoute] =
        healthRoutes + registrationRoutes + purchaseRoutes + faultRoutes + behaviourRoutes + observationRoutes
        + notificationRoutes + refundRequestRoutes + messagingRoutes + clockRoutes + subscriptionRoutes
        + extensionRoutes + appTransactionRoutes

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
