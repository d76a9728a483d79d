import JSON
import OpenSSL

extension ControlService {
    /// Whether the simulator is up, what it signs with, and starting over.
    static let healthRoutes = [
        ControlRoute("GET", "/health") { _, _ in .json(200, ["status": "ok"]) },
        ControlRoute("GET", "/certificates/root.pem") { service, _ throws(ControlError) in
            try pem(service.root)
        },
        ControlRoute("GET", "/certificates/root.der") { service, _ in
            OutgoingResponse(status: 200, contentType: "application/pkix-cert", body: service.root.der)
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
