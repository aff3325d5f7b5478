// SPDX-License-Identifier: Apache-2.0
package io.smqtt.routing;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.QoS;
import io.smqtt.spi.StoredDelivery;
import io.smqtt.spi.StoredMessage;
import io.smqtt.spi.StoredSubscription;
import io.smqtt.topic.SharedFilter;
import io.smqtt.topic.TopicFilter;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * A subscription of one subscriber to one topic filter, with its options (MQTT 5.0, section 3.8.3.1). Immutable and small, because
 * there may be millions.
 */
public sealed class Subscription permits ExclusiveSubscription {

    /** {@link #identifier()} of a subscription that has none. */
    public static final int NO_IDENTIFIER = 0;

    private static final int[] NONE = {};
    private static final int NO_LOCAL = 0x04;
    private static final int RETAIN_AS_PUBLISHED = 0x08;
    private static final int IDENTIFIER_SHIFT = 4;

    private final Subscriber subscriber;
    private final TopicFilter filter;
    private final @Nullable String shareName;

    /** The options in the lowest four bits, the identifier in the others; keeps the object at 32 bytes. */
    private final int optionsAndIdentifier;

    private final int @Nullable [] moreIdentifiers;

    /**
     * Creates a subscription.
     *
     * @param subscriber the subscriber
     * @param filter the topic filter, without the share name
     * @param shareName the group of a shared subscription, or null
     * @param maximumQos the granted quality of service
     * @param noLocal the No Local option
     * @param retainAsPublished the Retain As Published option
     * @param identifier the subscription identifier, at most 268,435,455, or {@link #NO_IDENTIFIER}
     */
    public Subscription(
            Subscriber subscriber,
            TopicFilter filter,
            @Nullable String shareName,
            QoS maximumQos,
            boolean noLocal,
            boolean retainAsPublished,
            int identifier) {
        this(subscriber, filter, shareName, options(maximumQos, noLocal, retainAsPublished), identifier, null);
    }

    private Subscription(
            Subscriber subscriber,
            TopicFilter filter,
            @Nullable String shareName,
            int options,
            int identifier,
            int @Nullable [] moreIdentifiers) {
        this.subscriber = subscriber;
        this.filter = filter;
        this.shareName = shareName;
        this.optionsAndIdentifier = identifier << IDENTIFIER_SHIFT | options;
        this.moreIdentifiers = moreIdentifiers;
    }

    /**
     * Creates the subscription of one stored delivery, with what is known when it is read again.
     *
     * @param subscriber the subscriber
     * @param clientFilter the filter as the client wrote it, {@code $share/…} included
     * @param qos the quality of service of the delivery
     * @param retain the retain flag of the delivery
     * @param identifiers the subscription identifiers of the delivery; not to be changed
     * @return a subscription for this delivery alone
     */
    public static Subscription ofDelivery(
            Subscriber subscriber, String clientFilter, QoS qos, boolean retain, int[] identifiers) {
        SharedFilter shared = SharedFilter.isShared(clientFilter) ? SharedFilter.of(clientFilter) : null;
        return new Subscription(
                subscriber,
                shared == null ? TopicFilter.of(clientFilter) : shared.filter(),
                shared == null ? null : shared.shareName(),
                options(qos, false, retain),
                identifiers.length == 0 ? NO_IDENTIFIER : identifiers[0],
                identifiers.length > 1 ? identifiers : null);
    }

    /**
     * Creates a subscription that was stored, or comes from another node.
     *
     * @param subscriber the subscriber
     * @param stored the subscription
     * @return a subscription of the subscriber
     */
    public static Subscription of(Subscriber subscriber, StoredSubscription stored) {
        String text = stored.clientFilter();
        SharedFilter shared = SharedFilter.isShared(text) ? SharedFilter.of(text) : null;
        return new Subscription(
                subscriber,
                shared == null ? TopicFilter.of(text) : shared.filter(),
                shared == null ? null : shared.shareName(),
                stored.maximumQos(),
                stored.noLocal(),
                stored.retainAsPublished(),
                stored.identifier());
    }

    /**
     * The form in which the subscription is stored, or sent to another node.
     *
     * @return its filter and options; of several identifiers the first one
     */
    public StoredSubscription stored() {
        return new StoredSubscription(clientFilter(), maximumQos(), noLocal(), retainAsPublished(), identifier());
    }

    /**
     * The form in which a delivery by this subscription is stored, or sent to another node; see {@link #ofDelivery}.
     *
     * @param number the number of the message in its queue
     * @param message the message
     * @param qos the quality of service of the delivery
     * @param delivery its state
     * @return the stored delivery
     */
    public StoredMessage stored(long number, ApplicationMessage message, QoS qos, StoredDelivery delivery) {
        boolean retain = message.retain() && retainAsPublished();
        return new StoredMessage(number, message, clientFilter(), qos, retain, identifiers(), delivery);
    }

    private static int options(QoS qos, boolean noLocal, boolean retainAsPublished) {
        return qos.level() | (noLocal ? NO_LOCAL : 0) | (retainAsPublished ? RETAIN_AS_PUBLISHED : 0);
    }

    /**
     * Merges two subscriptions of one subscriber that match the same message into one for its single delivery: the maximum QoS, all
     * identifiers, and the retain flag if one of them keeps it [MQTT-3.3.4-2].
     *
     * @param other another subscription of the same subscriber
     * @return the subscription of the delivery
     */
    public Subscription merge(Subscription other) {
        QoS qos = maximumQos().level() >= other.maximumQos().level() ? maximumQos() : other.maximumQos();
        int merged = options(qos, noLocal() && other.noLocal(), retainAsPublished() || other.retainAsPublished());
        int[] all = Arrays.copyOf(identifiers(), identifiers().length + other.identifiers().length);
        System.arraycopy(other.identifiers(), 0, all, identifiers().length, other.identifiers().length);
        int first = all.length == 0 ? NO_IDENTIFIER : all[0];
        return new Subscription(subscriber, filter, null, merged, first, all.length > 1 ? all : null);
    }

    /**
     * The subscriber.
     *
     * @return the subscriber
     */
    public Subscriber subscriber() {
        return subscriber;
    }

    /**
     * The topic filter.
     *
     * @return the filter, without the share name
     */
    public TopicFilter filter() {
        return filter;
    }

    /**
     * The group of a shared subscription.
     *
     * @return null if the subscription is not shared
     */
    public @Nullable String shareName() {
        return shareName;
    }

    /**
     * The filter as the client wrote it.
     *
     * @return {@code $share/name/filter} for a shared subscription, {@code $exclusive/filter} for an exclusive one
     */
    public String clientFilter() {
        return shareName == null ? filter.value() : SharedFilter.PREFIX + shareName + '/' + filter.value();
    }

    /**
     * The granted quality of service.
     *
     * @return the maximum QoS of a delivery
     */
    public QoS maximumQos() {
        return QoS.of(optionsAndIdentifier & 0x03);
    }

    /**
     * Whether the subscriber's own messages are not delivered to it.
     *
     * @return the No Local option
     */
    public boolean noLocal() {
        return (optionsAndIdentifier & NO_LOCAL) != 0;
    }

    /**
     * Whether the retain flag is kept.
     *
     * @return the Retain As Published option
     */
    public boolean retainAsPublished() {
        return (optionsAndIdentifier & RETAIN_AS_PUBLISHED) != 0;
    }

    /**
     * The subscription identifier.
     *
     * @return the first one, or {@link #NO_IDENTIFIER}
     */
    public int identifier() {
        return optionsAndIdentifier >>> IDENTIFIER_SHIFT;
    }

    /**
     * All subscription identifiers of a merged delivery.
     *
     * @return may be empty; not to be changed
     */
    public int[] identifiers() {
        if (moreIdentifiers != null) {
            return moreIdentifiers;
        }
        return identifier() == NO_IDENTIFIER ? NONE : new int[] {identifier()};
    }

    /**
     * Whether a delivery carries more than one identifier.
     *
     * @return true for a merged delivery with several
     */
    public boolean hasSeveralIdentifiers() {
        return moreIdentifiers != null;
    }

    @Override
    public String toString() {
        return "Subscription[" + subscriber.id() + ", " + clientFilter() + ", " + maximumQos() + ']';
    }
}
