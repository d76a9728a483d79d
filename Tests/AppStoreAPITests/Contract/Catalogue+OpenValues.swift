import AppStoreAPI

extension Catalogue {
    /// The type of every enumeration whose values can be received, by Apple's name.
    static let openValues: [String: any OpenValue.Type] = [
        "AccountTenure": AccountTenure.self,
        "AdvancedCommerceEffective": AdvancedCommerceEffective.self,
        "AdvancedCommerceOfferPeriod": AdvancedCommerceOfferPeriod.self,
        "AdvancedCommerceOfferReason": AdvancedCommerceOfferReason.self,
        "AdvancedCommercePeriod": AdvancedCommercePeriod.self,
        "AdvancedCommercePriceIncreaseInfoStatus": AdvancedCommercePriceIncreaseInfoStatus.self,
        "AdvancedCommerceReason": AdvancedCommerceReason.self,
        "AdvancedCommerceRefundReason": AdvancedCommerceRefundReason.self,
        "AdvancedCommerceRefundType": AdvancedCommerceRefundType.self,
        "AutoRenewStatus": AutoRenewStatus.self,
        "BillingPlanType": BillingPlanType.self,
        "ConsumptionRequestReason": ConsumptionRequestReason.self,
        "ConsumptionStatus": ConsumptionStatus.self,
        "DeliveryStatus": DeliveryStatus.self,
        "DeliveryStatusV1": DeliveryStatusV1.self,
        "Environment": Environment.self,
        "ExpirationIntent": ExpirationIntent.self,
        "ExtendReasonCode": ExtendReasonCode.self,
        "FirstSendAttemptResult": FirstSendAttemptResult.self,
        "HeaderPosition": HeaderPosition.self,
        "ImageSize": ImageSize.self,
        "ImageState": ImageState.self,
        "InAppOwnershipType": InAppOwnershipType.self,
        "LifetimeDollarsPurchased": LifetimeDollarsPurchased.self,
        "LifetimeDollarsRefunded": LifetimeDollarsRefunded.self,
        "MessageState": MessageState.self,
        "NotificationTypeV2": NotificationTypeV2.self,
        "OfferDiscountType": OfferDiscountType.self,
        "OfferType": OfferType.self,
        "OrderLookupStatus": OrderLookupStatus.self,
        "PerformanceTestStatus": PerformanceTestStatus.self,
        "Platform": Platform.self,
        "PlayTime": PlayTime.self,
        "PriceIncreaseStatus": PriceIncreaseStatus.self,
        "PurchasePlatform": PurchasePlatform.self,
        "RefundPreference": RefundPreference.self,
        "RefundPreferenceV1": RefundPreferenceV1.self,
        "RenewalBillingPlanType": RenewalBillingPlanType.self,
        "RevocationReason": RevocationReason.self,
        "RevocationType": RevocationType.self,
        "SendAttemptResult": SendAttemptResult.self,
        "Status": SubscriptionStatus.self,
        "Subtype": Subtype.self,
        "TransactionReason": TransactionReason.self,
        "Type": ProductType.self,
        "UserStatus": UserStatus.self,
    ]

    /// The values of enumerations that are only sent, by Apple's name.
    static let closedValues = [
        "TransactionHistoryRequest.Order": HistoryQuery.SortOrder.allCases.map(\.rawValue),
        "TransactionHistoryRequest.ProductType": HistoryQuery.ProductTypeFilter.allCases.map(\.rawValue),
    ]
}
