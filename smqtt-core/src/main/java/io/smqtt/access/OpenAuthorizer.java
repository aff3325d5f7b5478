// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access;

import io.smqtt.message.QoS;
import io.smqtt.spi.AccessAction;
import io.smqtt.spi.AccessDecision;
import io.smqtt.spi.ClientIdentity;
import reactor.core.publisher.Mono;

/**
 * The authorizer of a broker without access rules. All topics are open except those of the broker: every client may read $SYS, as with
 * mosquitto; $event needs the role admin, because it names clients; $CONTROL is closed. A client with rules of its own may do what
 * these allow, and nothing else.
 */
final class OpenAuthorizer implements DirectAuthorizer {

    private static final String FIGURES = "$SYS/broker/";

    private volatile boolean sysNamesClients;

    /** From now on reading $SYS, other than $SYS/broker, needs the role admin. */
    void sysNamesClients() {
        sysNamesClients = true;
    }

    @Override
    public Mono<AccessDecision> authorize(
            ClientIdentity client, AccessAction action, String topic, QoS qos, boolean retain) {
        boolean publishes = action == AccessAction.PUBLISH;
        boolean closed = SystemTopics.isControl(topic)
                || (SystemTopics.isSys(topic) && publishes && !SystemTopics.isOwnBridgeState(client, topic))
                || ((SystemTopics.isEvent(topic) || mayNameClients(topic)) && !AdminAuthorizer.mayRead(client, action))
                || (client.grants().rules() != null && !AdminAuthorizer.mayReadStatus(client, action, topic));
        return (closed ? AccessDecision.DENY : AccessDecision.ALLOW).now();
    }

    private boolean mayNameClients(String topic) {
        return sysNamesClients && SystemTopics.isSys(topic) && !topic.startsWith(FIGURES);
    }

    /** False: a subscription is either to one of the broker's topics or to none of them, so the check at SUBSCRIBE is enough. */
    @Override
    public boolean checksDeliveries() {
        return false;
    }
}
