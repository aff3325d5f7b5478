// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spi;

import io.smqtt.message.QoS;
import io.smqtt.thread.AnyThread;
import reactor.core.publisher.Mono;

/** Decides what a client may do. Several form a chain: the first answer that is not {@link AccessDecision#CONTINUE} counts. */
@FunctionalInterface
public interface Authorizer {

    /**
     * Looks at one action. Called on an event loop, for each message unless the broker has the answer cached (of a publisher that
     * of its last topic, quality of service and retain flag): must not block. Return {@link AccessDecision#now()} where the answer
     * is at hand, which costs nothing.
     *
     * @param request who wants what
     * @return exactly one decision; an error or an empty Mono denies
     */
    Mono<AccessDecision> authorize(AccessRequest request);

    /**
     * The same question in its parts, which is what the broker asks. An authorizer that is asked for each message may override it
     * to save an object for each question, and then answers both alike.
     *
     * @param client who wants it
     * @param action what it wants
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
     * Counts the changes of the rules: when it grows, decisions that the broker remembers are asked for again, also for
     * subscriptions that exist. A plain volatile read.
     *
     * @return a number that grows with each change
     */
    @AnyThread
    default long generation() {
        return 0;
    }

    /**
     * Tells whether deliveries are to be checked one by one ({@link AccessAction#RECEIVE}). A delivery cannot wait: where it
     * is checked, an answer that is not at hand denies it.
     *
     * @return false if a granted subscription is the only check a delivery needs
     */
    default boolean checksDeliveries() {
        return true;
    }
}
