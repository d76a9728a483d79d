import Domain
import Foundation
import JSON

/// The receipt object, in the names of the receipts API.
enum ReceiptBody {
    /// About how many bytes one takes.
    static func size(of receipt: Receipt) -> Int {
        1024 + (receipt.metadata?.count ?? 0) + receipt.content.purchases.count * 2048
    }

    static func write(_ receipt: Receipt, of app: App, _ service: ReceiptService, to writer: inout JSONWriter) {
        writer.member("id", receipt.id)
        writer.member("style", receipt.content.style.rawValue)
        writer.member("app_family_id", service.appFamilyID(of: app))
        writer.member("bundle_id", receipt.content.bundleID)
        writer.member("is_fraud", receipt.isFraud)
        writer.memberOrNull("fraud_reason", receipt.fraudReason?.rawValue)
        writer.member("environment", name(of: receipt.environment))
        writer.memberOrNull("user_identifier", receipt.user?.value)
        if let metadata = receipt.metadata {
            writer.memberRaw("metadata", metadata)
        } else {
            writer.memberNull("metadata")
        }
        writer.memberOrNull("ip_address", receipt.ipAddress)
        writer.memberArray("in_app_purchases") { writer in
            for purchase in service.purchases(of: receipt, app: app) {
                writer.object { write(purchase, to: &$0) }
            }
        }
        write("created_at", receipt.createdAt, to: &writer)
        write("updated_at", receipt.updatedAt, to: &writer)
        // Ours, behind what the receipts API has.
        writer.member("state", receipt.state.rawValue)
        writer.memberArray("flags") { writer in
            for flag in receipt.flags { writer.value(flag.rawValue) }
        }
    }

    private static func write(_ purchase: InAppPurchase, to writer: inout JSONWriter) {
        writer.member("id", purchase.id)
        writer.member("app_family_id", purchase.appFamilyID)
        writer.member("fact_id", purchase.factID)
        writer.member("version", purchase.version)
        writer.member("marketplace", InAppPurchase.marketplace)
        writer.member("app_identifier", purchase.appIdentifier)
        writer.memberOrNull("product_id", purchase.productID)
        writer.member("quantity", purchase.quantity)
        writer.memberOrNull("type", purchase.type)
        writer.member("environment", name(of: purchase.environment))
        writer.memberOrNull("country_code", purchase.countryCode)
        writer.memberOrNull("currency_code", purchase.currencyCode)
        writer.memberOrNull("user_identifier", purchase.user?.value)
        writer.memberOrNull("is_auto_renewing", purchase.isAutoRenewing)
        writer.memberOrNull("in_trial_period", purchase.isInTrialPeriod)
        writer.memberOrNull("in_grace_period", purchase.isInGracePeriod)
        // Kept with the receipt, and not repeated for each of what may be thousands of purchases.
        writer.memberNull("metadata")
        writer.memberArray("entitlements") { _ in }
        write("purchased_at", purchase.purchasedAt, to: &writer)
        write("current_period_start_at", purchase.currentPeriodStartAt, to: &writer)
        write("current_period_end_at", purchase.currentPeriodEndAt, to: &writer)
        write("canceled_at", purchase.canceledAt, to: &writer)
        writer.memberOrNull("canceled_by", purchase.canceledBy?.rawValue)
        write("created_at", purchase.createdAt, to: &writer)
        write("updated_at", purchase.updatedAt, to: &writer)
        write("last_synced_at", purchase.lastSyncedAt, to: &writer)
        writer.memberObject("receipt") { write(purchase.receipt, to: &$0) }
        if let apple = purchase.apple {
            writer.memberObject("apple") { write(apple, to: &$0) }
        } else {
            writer.memberNull("apple")
        }
    }

    /// The receipts API has two.
    ///
    /// A receipt that names none is production's, unless Apple knows it elsewhere.
    private static func name(of environment: AppStoreEnvironment?) -> String {
        (environment ?? .production).rawValue.lowercased()
    }

    /// What the receipt says, by the names that Apple's receipts have for it.
    ///
    /// Source: https://developer.apple.com/documentation/appstorereceipts/responsebody/receipt/in_app
    private static func write(_ said: ReceiptContent.Purchase, to writer: inout JSONWriter) {
        writer.memberOrNull("transaction_id", said.transactionID)
        writer.memberOrNull("original_transaction_id", said.originalTransactionID)
        writer.memberOrNull("web_order_line_item_id", said.webOrderLineItemID)
        writer.memberOrNull("product_id", said.productID)
        writer.memberOrNull("quantity", said.quantity)
        write("purchase_date", said.purchaseDate, to: &writer)
        write("original_purchase_date", said.originalPurchaseDate, to: &writer)
        write("expires_date", said.expiresDate, to: &writer)
        write("cancellation_date", said.cancellationDate, to: &writer)
        writer.memberOrNull("is_in_intro_offer_period", said.isInIntroductoryOfferPeriod)
    }

    /// What Apple says now, by the names and in the milliseconds of Apple's signed transactions.
    ///
    /// Source: https://developer.apple.com/documentation/appstoreserverapi/jwstransactiondecodedpayload
    private static func write(_ apple: ApplePurchase, to writer: inout JSONWriter) {
        writer.member("transactionId", apple.transactionID)
        writer.member("originalTransactionId", apple.originalTransactionID)
        writer.memberIfPresent("webOrderLineItemId", apple.webOrderLineItemID)
        writer.memberIfPresent("appTransactionId", apple.appTransactionID)
        writer.memberIfPresent("productId", apple.productID)
        writer.memberIfPresent("type", apple.productType)
        writer.memberIfPresent("quantity", apple.quantity)
        writer.memberIfPresent("currency", apple.currency)
        writer.memberIfPresent("price", apple.price)
        writer.memberIfPresent("storefront", apple.storefront)
        writer.member("purchaseDate", apple.purchaseDate.milliseconds)
        writer.memberIfPresent("originalPurchaseDate", apple.originalPurchaseDate?.milliseconds)
        writer.memberIfPresent("expiresDate", apple.expiresDate?.milliseconds)
        writer.memberIfPresent("revocationDate", apple.revocationDate?.milliseconds)
        writer.memberIfPresent("offerDiscountType", apple.offerDiscountType)
        writer.member("isUpgraded", apple.isUpgraded)
        writer.member("inAppOwnershipType", apple.isFamilyShared ? "FAMILY_SHARED" : "PURCHASED")
        writer.member("signedDate", apple.signedDate.milliseconds)
    }

    /// A time as the receipts API writes it: whole seconds for people, milliseconds for programs.
    private static func write(_ name: String, _ date: Date?, to writer: inout JSONWriter) {
        guard let date else { return writer.memberNull(name) }
        writer.memberObject(name) { writer in
            writer.member("utc", UTCText.text(date))
            writer.member("ms", date.milliseconds)
        }
    }
}

/// Times such as `2018-02-26 10:35:47 UTC`, to the second that has begun.
enum UTCText {
    private static let style = Date.ISO8601FormatStyle(dateTimeSeparator: .space)

    static func text(_ date: Date) -> String {
        let seconds = (Double(date.milliseconds) / 1000).rounded(.down)
        return String(Date(timeIntervalSince1970: seconds).formatted(style).dropLast()) + " UTC"
    }
}
