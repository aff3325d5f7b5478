// SPDX-License-Identifier: Apache-2.0
package io.smqtt.connection;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.QoS;
import io.smqtt.spi.AccessAction;
import io.smqtt.spi.AccessDecision;
import io.smqtt.spi.Authentication;
import io.smqtt.thread.OnEventLoop;
import io.smqtt.topic.TopicFilter;
import org.jspecify.annotations.Nullable;

/** Reports decisions to the {@link DecisionListener} of the event loop. Every method returns at once without one. */
@OnEventLoop
final class DecisionReport {

    private DecisionReport() {}

    /**
     * Reports an authentication.
     *
     * @param sentName the user name that the client sent; null if there is none, or it is not known
     */
    static void authenticated(
            Connection connection, String clientId, @Nullable String sentName, Authentication answer) {
        DecisionListener listener = connection.loop().decisions();
        if (listener != null) {
            listener.authenticated(
                    clientId,
                    answer instanceof Authentication.Accepted accepted ? accepted.userName() : sentName,
                    connection.link().remoteAddress(),
                    connection.link().listener(),
                    answer);
        }
    }

    /** Reports the decision on a message or a will. */
    static void publish(Connection connection, ApplicationMessage message, AccessDecision decision, boolean cached) {
        DecisionListener listener = connection.loop().decisions();
        if (listener != null) {
            listener.authorized(
                    connection.client(),
                    AccessAction.PUBLISH,
                    message.topic().value(),
                    message.qos(),
                    message.retain(),
                    decision,
                    cached);
        }
    }

    /** Reports the decision on a subscription. */
    static void subscribe(Connection connection, TopicFilter filter, QoS maximumQos, AccessDecision decision) {
        DecisionListener listener = connection.loop().decisions();
        if (listener != null) {
            listener.authorized(
                    connection.client(), AccessAction.SUBSCRIBE, filter.value(), maximumQos, false, decision, false);
        }
    }
}
