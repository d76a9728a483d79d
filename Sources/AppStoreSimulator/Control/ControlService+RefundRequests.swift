import AppStoreAPI
import JSON

extension ControlService {
    /// The longest interval, in seconds of simulated time: 30 days.
    private static let longestInterval: Int64 = 30 * 86_400
    /// What a customer may write, in bytes.
    private static let longestText = 1024

    /// Customers who want their money back, and Apple's decisions.
    static let refundRequestRoutes = [
        ControlRoute("GET", "/refund-requests") { service, _ in
            .json(200, ["refundRequests": .array(service.state.refundRequests.map(\.json))])
        },
        ControlRoute("POST", "/transactions/{transactionId}/refund-request") { service, request throws(ControlError) in
            let body = try request.body(["reason", "text"])
            let text = try body.string("text")
            guard text?.utf8.count ?? 0 <= longestText else {
                throw .invalid("text is longer than \(longestText) bytes")
            }
            try service.state.requestRefund(
                of: request.parameters[0],
                reason: body.string("reason").map { ConsumptionRequestReason(rawValue: $0) } ?? .unintendedPurchase,
                text: text)
            return OutgoingResponse(status: 202)
        },
        ControlRoute("POST", "/transactions/{transactionId}/refund-decision") { service, request throws(ControlError) in
            try service.state.decideRefund(of: request.parameters[0], decision(request))
            return OutgoingResponse(status: 204)
        },
        ControlRoute("GET", "/refund-rules") { service, _ in
            let rules = service.state.withContent { content in
                SimulatedEnvironment.allCases.map { content.refundRequests[$0].json($0) }
            }
            return .json(200, ["refundRules": .array(rules)])
        },
        ControlRoute("PUT", "/refund-rules") { service, request throws(ControlError) in
            try service.setRefundRules(request)
        },
    ]

    private static func decision(_ request: ControlRequest) throws(ControlError) -> RefundRequest.Decision {
        let body = try request.body(["outcome", "percentage"])
        switch try body.requiredString("outcome") {
        case NotificationTypeV2.refundDeclined.rawValue: return .decline
        case NotificationTypeV2.refund.rawValue:
            let percentage = try body.integer("percentage", in: 1...Int64(Refund.whole)) ?? Int(Refund.whole)
            return .refund(percentage: Int32(percentage))
        default: throw .invalid("outcome must be REFUND or REFUND_DECLINED")
        }
    }

    private func setRefundRules(_ request: ControlRequest) throws(ControlError) -> OutgoingResponse {
        let body = try request.body(["environment", "repeatAfterSeconds", "decideAfterSeconds", "policy", "seed"])
        let environment = try body.required("environment", body.environment())
        var rules = RefundRules.standard(in: environment)
        if let seconds = try body.integer("repeatAfterSeconds", in: 1...Self.longestInterval) {
            rules.repeatInterval = Int64(seconds) * 1000
        }
        rules.decisionDelay = try body.integer("decideAfterSeconds", in: 0...Self.longestInterval).map {
            Int64($0) * 1000
        }
        if let name = try body.string("policy") {
            guard let policy = RefundRules.Policy(rawValue: name) else {
                let all = RefundRules.Policy.allCases.map(\.rawValue).joined(separator: ", ")
                throw .invalid("policy must be one of \(all)")
            }
            rules.policy = policy
        }
        rules.seed = try body.integer("seed", in: 0...Int64.max).map { UInt64($0) }
        state.setRefundRules(rules, in: environment)
        return OutgoingResponse(status: 204)
    }
}

extension RefundRequest {
    fileprivate var json: JSONValue {
        var object: JSONObject = [
            "transactionId": .string(transactionID), "environment": .string(environment.rawValue),
            "reason": .string(reason.rawValue), "requestDate": .number(JSONNumber(requestDate)),
            "consumptionRequests": .number(JSONNumber(askedCount)),
        ]
        object["nextRepeatDate"] = nextRepeatDate.map { .number(JSONNumber($0)) }
        object["decisionDate"] = decisionDate.map { .number(JSONNumber($0)) }
        object["text"] = text.map { .string($0) }
        object["answer"] = answer?.json
        object["decision"] = decision?.json
        return .object(object)
    }
}

extension ReceivedAnswer {
    fileprivate var json: JSONValue {
        var object: JSONObject = ["delivered": .bool(isDelivered)]
        object["preference"] = preference.map { .string($0.rawValue) }
        object["consumptionPercentage"] = consumed.map { .number(JSONNumber($0)) }
        return .object(object)
    }
}

extension RefundRequest.Decision {
    fileprivate var json: JSONValue {
        switch self {
        case .decline: ["outcome": "REFUND_DECLINED"]
        case .refund(let percentage): ["outcome": "REFUND", "percentage": .number(JSONNumber(percentage))]
        }
    }
}

extension RefundRules {
    fileprivate func json(_ environment: SimulatedEnvironment) -> JSONValue {
        [
            "environment": .string(environment.rawValue), "policy": .string(policy.rawValue),
            "repeatAfterSeconds": .number(JSONNumber(repeatInterval / 1000)),
            "decideAfterSeconds": decisionDelay.map { .number(JSONNumber($0 / 1000)) } ?? .null,
            "seed": seed.map { .number(JSONNumber($0)) } ?? .null,
        ]
    }
}
