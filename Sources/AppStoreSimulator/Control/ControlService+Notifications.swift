import AppStoreAPI
import Foundation
import JSON

extension ControlService {
    /// The longest time that a receiver may be given, in milliseconds.
    private static let longestTimeout: Int64 = 60_000

    /// Where notifications go, sending them, and how it went.
    static let notificationRoutes = [
        ControlRoute("GET", "/apps/{bundleId}/notification-urls") { service, request throws(ControlError) in
            try service.notificationURLs(request.parameters[0])
        },
        ControlRoute("PUT", "/apps/{bundleId}/notification-urls") { service, request throws(ControlError) in
            try service.setNotificationURLs(request)
        },
        ControlRoute("GET", "/notifications") { service, request throws(ControlError) in
            try service.listNotifications(request)
        },
        ControlRoute("POST", "/notifications") { service, request throws(ControlError) in
            try service.notify(request)
        },
        ControlRoute("GET", "/notification-settings") { service, _ in
            let milliseconds = Int64(service.state.notificationTimeout / .milliseconds(1))
            return .json(200, ["timeoutMilliseconds": .number(JSONNumber(milliseconds))])
        },
        ControlRoute("PUT", "/notification-settings") { service, request throws(ControlError) in
            let body = try request.body(["timeoutMilliseconds"])
            let milliseconds = try body.required(
                "timeoutMilliseconds", body.integer("timeoutMilliseconds", in: 1...longestTimeout))
            service.state.notificationTimeout = .milliseconds(milliseconds)
            return OutgoingResponse(status: 204)
        },
    ]

    // MARK: Addresses

    private func notificationURLs(_ bundleID: String) throws(ControlError) -> OutgoingResponse {
        let addresses = try state.withContent { content throws(ControlError) in
            let app = try content.world.app(bundleID)
            return SimulatedEnvironment.allCases.map { content.outbox.address(of: app.bundleID, in: $0) }
        }
        var object: JSONObject = [:]
        for (environment, address) in zip(SimulatedEnvironment.allCases, addresses) {
            object[environment.rawValue.lowercased()] = address.map { .string($0.url.text) } ?? .null
        }
        return .json(200, .object(object))
    }

    private func setNotificationURLs(_ request: ControlRequest) throws(ControlError) -> OutgoingResponse {
        let body = try request.body(["production", "sandbox", "certificateAuthorities"])
        let authorities = try Self.certificateAuthorities(body)
        for environment in SimulatedEnvironment.allCases {
            let name = environment.rawValue.lowercased()
            var address: NotificationAddress?
            if let text = try body.string(name) {
                guard let url = NotificationURL(text) else {
                    throw .invalid("\(name) must be an absolute https or http URL")
                }
                address = NotificationAddress(url: url, certificateAuthorities: authorities)
            }
            try state.setNotificationAddress(address, of: request.parameters[0], in: environment)
        }
        return OutgoingResponse(status: 204)
    }

    // MARK: Sending

    private func notify(_ request: ControlRequest) throws(ControlError) -> OutgoingResponse {
        let now = state.milliseconds
        let draft = try state.withContent { content throws(ControlError) in
            try NotificationReader(request).draft(content, now: now)
        }
        guard let notification = try state.notify(draft) else {
            throw .conflict("app \(draft.bundleID) has no notification URL for \(draft.environment.rawValue)")
        }
        return .json(201, notification.json)
    }

    private func listNotifications(_ request: ControlRequest) throws(ControlError) -> OutgoingResponse {
        let names = ["environment", "bundleId", "notificationType", "transactionId", "after"]
        for item in request.query where !names.contains(item.name) {
            throw .invalid("there is no parameter \(item.name); there are \(names.joined(separator: ", "))")
        }
        guard let after = request.queryValue("after").map({ Int($0) }) ?? 0 else {
            throw .invalid("after must be the number of a notification")
        }
        let wanted = names.dropLast().map { request.queryValue($0) }
        let notifications = state.notifications.filter { notification in
            let draft = notification.draft
            let own = [draft.environment.rawValue, draft.bundleID, draft.type.rawValue, draft.transactionID]
            return notification.number > after && zip(wanted, own).allSatisfy { $0 == nil || $0 == $1 }
        }
        return .json(200, ["notifications": .array(notifications.map(\.json))])
    }
}

extension SimulatedNotification {
    fileprivate var json: JSONValue {
        let attempts = attempts.map { attempt -> JSONValue in
            [
                "attemptDate": .number(JSONNumber(attempt.date)),
                "sendAttemptResult": .string(attempt.result.rawValue),
            ]
        }
        var object: JSONObject = [
            "number": .number(JSONNumber(number)), "notificationUUID": .string(uuid),
            "bundleId": .string(draft.bundleID), "environment": .string(draft.environment.rawValue),
            "notificationType": .string(draft.type.rawValue),
        ]
        object["subtype"] = draft.subtype.map { .string($0.rawValue) }
        object["transactionId"] = draft.transactionID.map { .string($0) }
        object["signedDate"] = .number(JSONNumber(signedDate))
        object["signedPayload"] = signedPayload.map { .string($0) }
        object["sendAttempts"] = .array(attempts)
        object["nextAttemptDate"] = nextAttemptDate.map { .number(JSONNumber($0)) }
        return .object(object)
    }
}

/// Reads what the control port is told to notify of.
struct NotificationReader {
    private static let allowed = [
        "bundleId", "environment", "notificationType", "subtype", "transactionId", "consumptionRequestReason",
        "status", "summary", "externalPurchaseToken", "tampering", "transactionTampering",
    ]

    private let body: ControlBody

    init(_ request: ControlRequest) throws(ControlError) { body = try request.body(Self.allowed) }

    /// The notification, with the purchase or customer that it is about as they are now.
    func draft(_ content: SimulatorState.Content, now: Int64) throws(ControlError) -> NotificationDraft {
        let type = NotificationTypeV2(rawValue: try body.requiredString("notificationType"))
        let subtype = try body.string("subtype").map { Subtype(rawValue: $0) }
        let record = try body.string("transactionId").map { id throws(ControlError) in try content.world.record(id) }
        let bundleID = try body.string("bundleId") ?? record?.customer.bundleID
        let environment = try body.environment() ?? record?.environment
        guard let bundleID, let environment else {
            throw .invalid("bundleId and environment are missing, and transactionId that would tell them")
        }
        guard (record.map { $0.customer.bundleID == bundleID && $0.environment == environment }) ?? true else {
            throw .conflict("the transaction is of another app or environment")
        }
        _ = try content.world.app(bundleID)
        var draft = NotificationDraft(
            type, subtype, of: bundleID, in: environment,
            about: try subject(type, record, content, now: now))
        draft.customer = record?.customer
        draft.tampering = try tampering("tampering")
        draft.transactionTampering = try tampering("transactionTampering")
        return draft
    }

    private func subject(
        _ type: NotificationTypeV2, _ record: TransactionRecord?, _ content: SimulatorState.Content, now: Int64
    ) throws(ControlError) -> NotificationDraft.Subject {
        if let summary = try object("summary") { return .summary(Summary(summary)) }
        if let token = try object("externalPurchaseToken") {
            return .externalPurchaseToken(ExternalPurchaseToken(token))
        }
        if type == .rescindConsent {
            guard let record else { throw .invalid("transactionId is missing: whose consent it was") }
            guard let appTransaction = content.world.appTransaction(of: record.customer, at: now) else {
                throw .conflict("the customer has no app transaction")
            }
            return .appData(appTransaction)
        }
        var subject = record.map { content.subject(of: $0, at: now) } ?? NotifiedPurchase()
        subject.consumptionRequestReason = try body.string("consumptionRequestReason").map {
            ConsumptionRequestReason(rawValue: $0)
        }
        if let status = try body.integer("status", in: 0...Int64(Int32.max)) {
            subject.status = SubscriptionStatus(rawValue: Int32(status))
        }
        return .data(subject)
    }

    private func object(_ name: String) throws(ControlError) -> JSONMembers? {
        guard let value = body.members[name], !value.isNull else { return nil }
        guard let object = value.object else { throw .invalid("\(name) must be an object") }
        return object
    }

    private func tampering(_ name: String) throws(ControlError) -> Tampering? {
        guard let text = try body.string(name) else { return nil }
        guard let tampering = Tampering(rawValue: text) else {
            let all = Tampering.allCases.map(\.rawValue).joined(separator: ", ")
            throw .invalid("\(name) must be one of \(all)")
        }
        return tampering
    }
}
