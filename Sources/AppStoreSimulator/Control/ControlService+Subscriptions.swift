import AppStoreAPI
import JSON

extension ControlService {
    /// The longest grace period, in seconds: Apple's longest, 28 days.
    private static let longestGracePeriod: Int64 = 28 * 86_400

    /// What becomes of subscriptions; answers show the transaction that it comes to.
    static let subscriptionRoutes = [
        ControlRoute("POST", "/transactions/{transactionId}/renewals") { service, request throws(ControlError) in
            let body = try request.body(["purchaseDate"])
            return .created(
                try service.state.renew(request.parameters[0], purchaseDate: body.integer("purchaseDate")))
        },
        ControlRoute("POST", "/transactions/{transactionId}/upgrades") { service, request throws(ControlError) in
            let body = try request.body(["productId", "price"])
            return .created(
                try service.state.upgrade(
                    request.parameters[0], to: body.requiredString("productId"), price: body.integer("price")))
        },
        ControlRoute("POST", "/transactions/{transactionId}/downgrades") { service, request throws(ControlError) in
            let body = try request.body(["productId", "price"])
            return .transaction(
                200,
                try service.state.downgrade(
                    request.parameters[0], to: body.requiredString("productId"), price: body.integer("price")))
        },
        ControlRoute("DELETE", "/transactions/{transactionId}/downgrades") { service, request throws(ControlError) in
            .transaction(200, try service.state.downgrade(request.parameters[0], to: nil))
        },
        ControlRoute("POST", "/transactions/{transactionId}/crossgrades") { service, request throws(ControlError) in
            let body = try request.body(["productId", "price", "atRenewal"])
            let productID = try body.requiredString("productId")
            let price = try body.integer("price")
            if try body.bool("atRenewal") ?? false {
                return .transaction(
                    200, try service.state.downgrade(request.parameters[0], to: productID, price: price))
            }
            return .created(try service.state.upgrade(request.parameters[0], to: productID, price: price))
        },
        ControlRoute("POST", "/transactions/{transactionId}/resubscriptions") {
            service, request throws(ControlError) in
            let body = try request.body(["productId", "price"])
            return .created(
                try service.state.resubscribe(
                    request.parameters[0], to: body.string("productId"), price: body.integer("price")))
        },
        ControlRoute("POST", "/transactions/{transactionId}/expiry") { service, request throws(ControlError) in
            let intent = try request.body(["expirationIntent"]).integer("expirationIntent", in: 1...5) ?? 1
            return .transaction(
                200,
                try service.state.expire(request.parameters[0], because: ExpirationIntent(rawValue: Int32(intent))))
        },
        ControlRoute("POST", "/transactions/{transactionId}/billing-failure") {
            service, request throws(ControlError) in
            let seconds = try request.body(["gracePeriodSeconds"])
                .integer("gracePeriodSeconds", in: 0...longestGracePeriod)
            return .transaction(
                200, try service.state.failBilling(request.parameters[0], gracePeriod: Int64(seconds ?? 0) * 1000))
        },
        ControlRoute("GET", "/transactions/{transactionId}/subscription") { service, request throws(ControlError) in
            try service.subscription(request.parameters[0])
        },
        ControlRoute("PUT", "/transactions/{transactionId}/subscription") { service, request throws(ControlError) in
            let body = try request.body(["autoRenew", "renewsByItself", "billingFails", "gracePeriodSeconds"])
            let seconds = try body.integer("gracePeriodSeconds", in: 0...longestGracePeriod)
            try service.state.set(
                SubscriptionSettings(
                    willRenew: body.bool("autoRenew"), renewsByItself: body.bool("renewsByItself"),
                    billingFails: body.bool("billingFails"), gracePeriodLength: seconds.map { Int64($0) * 1000 }),
                of: request.parameters[0])
            return try service.subscription(request.parameters[0])
        },
    ]

    private func subscription(_ transactionID: String) throws(ControlError) -> OutgoingResponse {
        state.passTime()
        let now = state.milliseconds
        return try state.withContent { content throws(ControlError) in
            let record = try content.world.record(transactionID)
            guard let status = content.world.status(of: record, at: now),
                let renewalInfo = content.renewalInfo(of: record, at: now),
                let subscription = content.world.subscriptionID(of: record).flatMap({ content.world.subscriptions[$0] })
            else { throw .conflict("it is not a subscription") }
            var writer = JSONWriter()
            writer.object { writer in
                writer.member("status", Int64(status.rawValue))
                writer.member("renewsByItself", subscription.renewsByItself)
                writer.member("billingFails", subscription.billingFails)
                writer.member("gracePeriodSeconds", subscription.gracePeriodLength / 1000)
                writer.member("extensions", Int64(subscription.extensions.count))
                writer.member("renewalInfo", renewalInfo)
            }
            return .json(200, writer.bytes)
        }
    }

    // MARK: Extensions

    /// The slowest pace, in seconds for each subscription: a day.
    private static let slowestPace: Double = 86_400

    /// Mass extensions of renewal dates, and how long they take.
    static let extensionRoutes = [
        ControlRoute("GET", "/mass-extensions") { service, _ in
            service.state.passTime()
            let extensions = service.state.withContent { $0.world.massExtensions }
            return .json(200, ["massExtensions": .array(extensions.map(\.json))])
        },
        ControlRoute("GET", "/extension-settings") { service, _ in
            let seconds = JSONNumber(Double(service.state.massExtensionPace) / 1000)
            return .json(200, ["secondsPerSubscription": seconds.map { .number($0) } ?? .null])
        },
        ControlRoute("PUT", "/extension-settings") { service, request throws(ControlError) in
            let body = try request.body(["secondsPerSubscription"])
            let seconds = try body.required("secondsPerSubscription", body.number("secondsPerSubscription"))
            guard 0...slowestPace ~= seconds else {
                throw .invalid("secondsPerSubscription must be 0 to \(Int(slowestPace))")
            }
            service.state.massExtensionPace = Int64(seconds * 1000)
            return OutgoingResponse(status: 204)
        },
    ]
}

extension MassExtension {
    fileprivate var json: JSONValue {
        var object: JSONObject = [
            "bundleId": .string(app.bundleID), "environment": .string(app.environment.rawValue),
            "requestIdentifier": .string(requestIdentifier), "productId": .string(productID),
            "extendByDays": .number(JSONNumber(days)), "pending": .number(JSONNumber(pending.count)),
            "succeededCount": .number(JSONNumber(succeededCount)), "failedCount": .number(JSONNumber(failedCount)),
        ]
        object["storefrontCountryCodes"] = storefronts.map { .array($0.map { .string($0) }) }
        object["completeDate"] = completeDate.map { .number(JSONNumber($0)) }
        return .object(object)
    }
}
