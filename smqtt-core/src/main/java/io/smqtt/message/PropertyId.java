// SPDX-License-Identifier: Apache-2.0
package io.smqtt.message;

/** The property identifiers of MQTT 5.0, section 2.2.2.2. All fit one byte on the wire. */
public final class PropertyId {

    /** Payload Format Indicator, a byte. */
    public static final int PAYLOAD_FORMAT_INDICATOR = 0x01;
    /** Message Expiry Interval, four bytes, seconds. */
    public static final int MESSAGE_EXPIRY_INTERVAL = 0x02;
    /** Content Type, a string. */
    public static final int CONTENT_TYPE = 0x03;
    /** Response Topic, a string. */
    public static final int RESPONSE_TOPIC = 0x08;
    /** Correlation Data, binary. */
    public static final int CORRELATION_DATA = 0x09;
    /** Subscription Identifier, a variable byte integer. */
    public static final int SUBSCRIPTION_IDENTIFIER = 0x0B;
    /** Session Expiry Interval, four bytes, seconds. */
    public static final int SESSION_EXPIRY_INTERVAL = 0x11;
    /** Assigned Client Identifier, a string. */
    public static final int ASSIGNED_CLIENT_IDENTIFIER = 0x12;
    /** Server Keep Alive, two bytes, seconds. */
    public static final int SERVER_KEEP_ALIVE = 0x13;
    /** Authentication Method, a string. */
    public static final int AUTHENTICATION_METHOD = 0x15;
    /** Authentication Data, binary. */
    public static final int AUTHENTICATION_DATA = 0x16;
    /** Request Problem Information, a byte. */
    public static final int REQUEST_PROBLEM_INFORMATION = 0x17;
    /** Will Delay Interval, four bytes, seconds. */
    public static final int WILL_DELAY_INTERVAL = 0x18;
    /** Request Response Information, a byte. */
    public static final int REQUEST_RESPONSE_INFORMATION = 0x19;
    /** Response Information, a string. */
    public static final int RESPONSE_INFORMATION = 0x1A;
    /** Server Reference, a string. */
    public static final int SERVER_REFERENCE = 0x1C;
    /** Reason String, a string. */
    public static final int REASON_STRING = 0x1F;
    /** Receive Maximum, two bytes. */
    public static final int RECEIVE_MAXIMUM = 0x21;
    /** Topic Alias Maximum, two bytes. */
    public static final int TOPIC_ALIAS_MAXIMUM = 0x22;
    /** Topic Alias, two bytes. */
    public static final int TOPIC_ALIAS = 0x23;
    /** Maximum QoS, a byte. */
    public static final int MAXIMUM_QOS = 0x24;
    /** Retain Available, a byte. */
    public static final int RETAIN_AVAILABLE = 0x25;
    /** User Property, a pair of strings. */
    public static final int USER_PROPERTY = 0x26;
    /** Maximum Packet Size, four bytes. */
    public static final int MAXIMUM_PACKET_SIZE = 0x27;
    /** Wildcard Subscription Available, a byte. */
    public static final int WILDCARD_SUBSCRIPTION_AVAILABLE = 0x28;
    /** Subscription Identifiers Available, a byte. */
    public static final int SUBSCRIPTION_IDENTIFIERS_AVAILABLE = 0x29;
    /** Shared Subscription Available, a byte. */
    public static final int SHARED_SUBSCRIPTION_AVAILABLE = 0x2A;

    private PropertyId() {}
}
