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
}
