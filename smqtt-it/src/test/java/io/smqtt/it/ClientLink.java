// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import java.util.List;

/** One connected client. Every call waits for the broker's answer. */
interface ClientLink {

    boolean sessionPresent();

    /** Subscribes to filters with the QoS at the same place and returns the codes of SUBACK. */
    List<Integer> subscribe(List<String> filters, List<Integer> qos) throws Exception;

    default List<Integer> subscribe(String filter, int qos) throws Exception {
        return subscribe(List.of(filter), List.of(qos));
    }

    /** Unsubscribes and returns the codes of UNSUBACK (empty before MQTT 5). */
    List<Integer> unsubscribe(String filter) throws Exception;

    /** Publishes, waits for the last acknowledgement of the QoS, and returns its reason code (0 before MQTT 5 and for QoS 0). */
    int publish(Message message) throws Exception;

    /** The next received message, in order of arrival. Fails after a deadline. */
    Message next() throws Exception;

    /** DISCONNECT. */
    void disconnect() throws Exception;

    /** DISCONNECT that changes the session expiry to 0 (MQTT 5). */
    void disconnectForgetting() throws Exception;

    /** Breaks the connection without DISCONNECT. */
    void cut() throws Exception;
}
