// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.message.QoS;
import io.smqtt.spi.AccessAction;
import io.smqtt.spi.AccessDecision;
import io.smqtt.spi.Authorizer;
import io.smqtt.spi.ClientIdentity;
import io.smqtt.thread.OnEventLoop;
import io.smqtt.topic.TopicName;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;

/**
 * Checks whether one client may receive messages of a topic. Caches a bounded number of decisions until the rules change. A
 * delivery cannot wait: a decision that is not available at once counts as a denial.
 */
@OnEventLoop
final class DeliveryCheck {

    private static final Logger LOG = LoggerFactory.getLogger(DeliveryCheck.class);
    private static final int MAXIMUM_REMEMBERED = 256;

    private final Authorizer authorizer;
    private final ClientIdentity client;
    private final Map<TopicName, Boolean> remembered = new HashMap<>();
    private long generation;

    /** Creates the check of a client; null if all deliveries are allowed. */
    static @Nullable DeliveryCheck of(Authorizer authorizer, ClientIdentity client) {
        return authorizer.checksDeliveries(client) && !InProcess.isReserved(client.clientId())
                ? new DeliveryCheck(authorizer, client)
                : null;
    }

    private DeliveryCheck(Authorizer authorizer, ClientIdentity client) {
        this.authorizer = authorizer;
        this.client = client;
        this.generation = authorizer.generation();
    }

    boolean mayReceive(TopicName topic) {
        long current = authorizer.generation();
        if (current != generation) {
            remembered.clear();
            generation = current;
        }
        Boolean known = remembered.get(topic);
        if (known != null) {
            return known;
        }
        boolean allowed = ask(topic);
        if (remembered.size() >= MAXIMUM_REMEMBERED) {
            remembered.clear();
        }
        remembered.put(topic, allowed);
        return allowed;
    }

    private boolean ask(TopicName topic) {
        try {
            Mono<AccessDecision> answer =
                    authorizer.authorize(client, AccessAction.RECEIVE, topic.value(), QoS.AT_MOST_ONCE, false);
            return answer instanceof Callable<?> atHand && atHand.call() == AccessDecision.ALLOW;
        } catch (Exception
                | LinkageError
                | StackOverflowError
                | AssertionError e) { // a plugged-in authorizer: fail closed
            LOG.warn("an authorizer failed; the delivery is denied", e);
            return false;
        }
    }
}
