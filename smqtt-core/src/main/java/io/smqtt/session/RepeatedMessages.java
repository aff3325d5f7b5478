// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.routing.RouteTicket;
import io.smqtt.routing.Subscription;
import io.smqtt.thread.OnEventLoop;
import org.jspecify.annotations.Nullable;

/**
 * Recognizes QoS 2 messages that a session has taken already and that come once more: from another node that has failed or kept them, or because their
 * publisher has sent them again after its node had failed.
 */
@OnEventLoop
final class RepeatedMessages {

    private RepeatedMessages() {}

    /**
     * Whether a session has taken a message. Then its publisher waits until what the session has taken is committed.
     *
     * @param record the stored part of the session; null if it is not stored
     * @param history the messages that sessions of this node have taken lately
     * @param key the number of the session in the history
     */
    static boolean had(
            @Nullable SessionRecord record,
            DeliveryHistory history,
            long key,
            ApplicationMessage message,
            Subscription subscription,
            RouteTicket ticket) {
        if (!message.isRepeated() && !ticket.mayHaveCome()) {
            return false;
        }
        long id = TakenMessages.idOf(message, subscription);
        if (id == ApplicationMessage.NO_ID) {
            return false;
        }
        // a message of a group can return to the group, and come to the same member again
        boolean once = subscription.shareName() == null;
        if (record == null) {
            return once && history.knows(key, id);
        }
        boolean had = record.tookBefore(id)
                || ((once || record.isAdopted()) && history.knows(key, id) && !record.hasLost(history, id));
        if (had) {
            record.awaitTaken(ticket);
        }
        return had;
    }
}
