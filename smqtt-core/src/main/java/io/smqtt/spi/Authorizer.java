// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spi;

import io.smqtt.message.QoS;
import io.smqtt.thread.AnyThread;
import reactor.core.publisher.Mono;

/** Decides about actions of clients. Several form a chain: the first answer that is not {@link AccessDecision#CONTINUE} decides. */
@FunctionalInterface
public interface Authorizer {

    /**
     * Decides about one action. Called on an event loop, for each message unless the broker has cached the answer (for a publisher that of
     * its last topic, QoS and retain flag): must not block. Return {@link AccessDecision#now()} if the answer is available at once, which
     * costs nothing.
     *
     * @param request the client and the action
     * @return exactly one decision; an error or an empty Mono denies
     */
    Mono<AccessDecision> authorize(AccessRequest request);

    /**
     * The same request without an object; the broker calls this method. Override it to save an object per message, with the same answers
     * as the other method.
     *
     * @param client the client
     * @param action the action
     * @param topic a topic name or filter
     * @param qos see {@link AccessRequest#qos()}
     * @param retain see {@link AccessRequest#retain()}
     * @return exactly one decision
     */
    default Mono<AccessDecision> authorize(
            ClientIdentity client, AccessAction action, String topic, QoS qos, boolean retain) {
        return authorize(new AccessRequest(client, action, topic, qos, retain));
    }

    /**
     * The generation of the rules: when it increases, cached decisions are requested again, also for existing subscriptions. A plain
     * volatile read.
     *
     * @return a number that increases with each change
     */
    @AnyThread
    default long generation() {
        return 0;
    }

    /**
     * Whether each delivery must be authorized ({@link AccessAction#RECEIVE}). A delivery cannot wait: an answer that is not available at
     * once denies it.
     *
     * @return false if a granted subscription is the only check a delivery needs
     */
    default boolean checksDeliveries() {
        return true;
    }

    /**
     * Whether each delivery to one client must be authorized. Asked when its session is opened.
     *
     * @param client the client
     * @return the answer for all clients, unless overridden
     */
    default boolean checksDeliveries(ClientIdentity client) {
        return checksDeliveries();
    }
}
