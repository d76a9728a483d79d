import AppStoreAPI
import JSON
import OpenSSL

extension ControlService {
    /// Teams' keys, apps and Apple Accounts.
    static let registrationRoutes = [
        ControlRoute("POST", "/keys") { service, request throws(ControlError) in try service.registerKey(request) },
        ControlRoute("GET", "/keys") { service, _ in service.listKeys() },
        ControlRoute("DELETE", "/keys/{keyId}") { service, request throws(ControlError) in
            try service.state.revokeKey(request.parameters[0])
            return OutgoingResponse(status: 204)
        },
        ControlRoute("PUT", "/apps/{bundleId}") { service, request throws(ControlError) in
            try service.registerApp(request)
        },
        ControlRoute("GET", "/apps") { service, _ in
            let apps = service.state.withContent { $0.world.apps.values.sorted { $0.bundleID < $1.bundleID } }
            return .json(200, ["apps": .array(apps.map(\.json))])
        },
        ControlRoute("POST", "/accounts") { service, request throws(ControlError) in
            let body = try request.body(["id", "environment", "family"])
            let account = try service.state.createAccount(
                body.string("id"), in: body.required("environment", body.environment()), family: body.string("family"))
            return .json(201, account.json)
        },
        ControlRoute("GET", "/accounts") { service, _ in
            let accounts = service.state.withContent { $0.world.accounts.values.sorted { $0.id < $1.id } }
            return .json(200, ["accounts": .array(accounts.map(\.json))])
        },
    ]

    /// Takes a public key, or makes a pair and gives the private half out, which nobody keeps.
    private func registerKey(_ request: ControlRequest) throws(ControlError) -> OutgoingResponse {
        let body = try request.body(["issuerId", "keyId", "publicKey"])
        let issuerID = try body.requiredString("issuerId")
        var answer: JSONObject = ["issuerId": .string(issuerID)]
        let publicKey: ECPublicKey
        if let pem = try body.string("publicKey") {
            do throws(PublicKeyError) {
                publicKey = try ECPublicKey(pemRepresentation: pem)
            } catch {
                throw .invalid("publicKey: \(error)")
            }
        } else {
            do throws(OpenSSLError) {
                let pair = try ECPrivateKey.generate()
                publicKey = pair.publicKey
                answer["privateKey"] = .string(
                    try pair.pkcs8PEM().withUnsafeBytes { String(decoding: $0, as: UTF8.self) })
            } catch {
                throw .conflict(error.description)
            }
        }
        let keyID = try state.registerKey(publicKey, keyID: body.string("keyId"), issuerID: issuerID)
        answer["keyId"] = .string(keyID)
        return .json(201, .object(answer))
    }

    private func listKeys() -> OutgoingResponse {
        let keys = state.withContent { $0.world.keys.values.sorted { $0.keyID < $1.keyID } }
        let list = keys.map { key -> JSONValue in
            ["keyId": .string(key.keyID), "issuerId": .string(key.issuerID), "revoked": .bool(key.isRevoked)]
        }
        return .json(200, ["keys": .array(list)])
    }

    private func registerApp(_ request: ControlRequest) throws(ControlError) -> OutgoingResponse {
        let body = try request.body(["appAppleId", "issuerId", "releasedToProduction"])
        let app = RegisteredApp(
            bundleID: request.parameters[0], appAppleID: try body.requiredInteger("appAppleId"),
            issuerID: try body.requiredString("issuerId"),
            isReleasedToProduction: try body.bool("releasedToProduction") ?? true)
        try state.register(app)
        return .json(200, app.json)
    }
}

extension RegisteredApp {
    fileprivate var json: JSONValue {
        [
            "bundleId": .string(bundleID), "appAppleId": .number(JSONNumber(appAppleID)),
            "issuerId": .string(issuerID), "releasedToProduction": .bool(isReleasedToProduction),
        ]
    }
}

extension AppleAccount {
    fileprivate var json: JSONValue {
        [
            "id": .string(id), "environment": .string(environment.rawValue),
            "family": family.map(JSONValue.string) ?? nil,
        ]
    }
}
