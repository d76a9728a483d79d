import AppStoreAPI
import JSON
import NIOSSL

extension ControlService {
    /// The largest quota that can be set.
    private static let largestQuota: Int64 = 100_000

    /// Apple's review of what is shown to customers who are about to cancel.
    static let messagingRoutes = [
        ControlRoute("GET", "/apps/{bundleId}/retention-messaging") { service, request throws(ControlError) in
            try service.listMessaging(request.parameters[0])
        },
        ControlRoute("PUT", "/apps/{bundleId}/images/{imageIdentifier}/review") {
            service, request throws(ControlError) in
            let (environment, state) = try review(request)
            try service.state.review(image: request.parameters[1], of: request.parameters[0], in: environment, state)
            return OutgoingResponse(status: 204)
        },
        ControlRoute("PUT", "/apps/{bundleId}/messages/{messageIdentifier}/review") {
            service, request throws(ControlError) in
            let (environment, state) = try review(request)
            try service.state.review(message: request.parameters[1], of: request.parameters[0], in: environment, state)
            return OutgoingResponse(status: 204)
        },
        ControlRoute("GET", "/messaging-settings") { service, _ in .json(200, service.state.messagingSettings.json) },
        ControlRoute("PUT", "/messaging-settings") { service, request throws(ControlError) in
            service.state.messagingSettings = try settings(request)
            return OutgoingResponse(status: 204)
        },
    ]

    private static func review(
        _ request: ControlRequest
    ) throws(ControlError) -> (SimulatedEnvironment, ReviewState) {
        let body = try request.body(["environment", "state"])
        guard let state = ReviewState(rawValue: try body.requiredString("state")) else {
            throw .invalid("state must be PENDING, APPROVED or REJECTED")
        }
        return (try body.required("environment", body.environment()), state)
    }

    private static func settings(_ request: ControlRequest) throws(ControlError) -> MessagingSettings {
        let body = try request.body([
            "automaticApproval", "imageQuota", "messageQuota", "requireLowercaseIdentifiers", "allowPlainRealtimeURLs",
            "certificateAuthorities",
        ])
        var settings = MessagingSettings()
        if let list = body.members["automaticApproval"] {
            let environments = list.array?.map { $0.string.flatMap { SimulatedEnvironment(rawValue: $0.streamSafe) } }
            guard let environments, !environments.contains(nil) else {
                throw .invalid("automaticApproval must be an array of Production and Sandbox")
            }
            settings.automaticApproval = Set(environments.compactMap { $0 })
        }
        settings.imageQuota = try body.integer("imageQuota", in: 0...largestQuota) ?? settings.imageQuota
        settings.messageQuota = try body.integer("messageQuota", in: 0...largestQuota) ?? settings.messageQuota
        settings.requiresLowercaseIdentifiers = try body.bool("requireLowercaseIdentifiers") ?? false
        settings.allowsPlainRealtimeURLs = try body.bool("allowPlainRealtimeURLs") ?? false
        settings.certificateAuthorities = try certificateAuthorities(body)
        return settings
    }

    /// Certificates to trust, as PEM.
    static func certificateAuthorities(_ body: ControlBody) throws(ControlError) -> String? {
        guard let text = try body.string("certificateAuthorities") else { return nil }
        guard let certificates = try? NIOSSLCertificate.fromPEMBytes(Array(text.utf8)), !certificates.isEmpty else {
            throw .invalid("certificateAuthorities must be certificates in PEM")
        }
        return text
    }

    private func listMessaging(_ bundleID: String) throws(ControlError) -> OutgoingResponse {
        let catalogues = try state.withContent { content throws(ControlError) in
            let app = try content.world.app(bundleID)
            return SimulatedEnvironment.allCases.map { ($0, content.messaging[app.bundleID, $0]) }
        }
        var object: JSONObject = [:]
        for (environment, catalogue) in catalogues { object[environment.rawValue.lowercased()] = catalogue.json }
        return .json(200, .object(object))
    }
}

extension MessagingSettings {
    fileprivate var json: JSONValue {
        let approval = automaticApproval.map(\.rawValue).sorted().map { JSONValue.string($0) }
        return [
            "automaticApproval": .array(approval), "imageQuota": .number(JSONNumber(imageQuota)),
            "messageQuota": .number(JSONNumber(messageQuota)),
            "requireLowercaseIdentifiers": .bool(requiresLowercaseIdentifiers),
            "allowPlainRealtimeURLs": .bool(allowsPlainRealtimeURLs),
            "certificateAuthorities": certificateAuthorities.map { .string($0) } ?? .null,
        ]
    }
}

extension MessagingCatalogue {
    fileprivate var json: JSONValue {
        let images = images.map { image -> JSONValue in
            [
                "imageIdentifier": .string(image.identifier), "imageSize": .string(image.size.rawValue),
                "state": .string(image.state.rawValue),
            ]
        }
        let messages = messages.map { message -> JSONValue in
            [
                "messageIdentifier": .string(message.identifier), "state": .string(message.state.rawValue),
                "header": message.content.header.map { .string($0) } ?? .null,
                "body": message.content.body.map { .string($0) } ?? .null,
            ]
        }
        let places = defaults.sorted { ($0.key.productID, $0.key.locale) < ($1.key.productID, $1.key.locale) }
        let defaults = places.map { place, identifier -> JSONValue in
            [
                "productId": .string(place.productID), "locale": .string(place.locale),
                "messageIdentifier": .string(identifier),
            ]
        }
        return [
            "images": .array(images), "messages": .array(messages), "defaults": .array(defaults),
            "realtimeURL": realtimeURL.map { .string($0) } ?? .null,
        ]
    }
}
