// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.routing.SharedGroup;
import io.smqtt.thread.AnyThread;
import io.smqtt.topic.SharedFilter;

/** The QoS 2 messages that members of shared groups on this node, and the queues of the groups, have taken. */
@AnyThread
final class TakenByGroups {

    private TakenByGroups() {}

    /**
     * Whether a member of a group, adopted sessions included, or the queue of the group is known to have taken a message.
     *
     * @param messageId the identifier of the message
     */
    static boolean hasTaken(SessionServices services, long messageId, SharedFilter group) {
        long id = TakenMessages.idOf(messageId, group);
        GroupQueue queue = services.groups().queue(group);
        boolean[] found = {queue != null && queue.hasTaken(id)};
        SharedGroup present = services.groups().group(group);
        if (present != null && !found[0]) {
            present.forEachMember(
                    member -> found[0] |= member instanceof Session session && hasTaken(services, session, id));
        }
        return found[0];
    }

    /**
     * Whether a member of a group is known to have taken a message, and has not lost it since, because it could not be stored.
     *
     * @param id see {@link TakenMessages#idOf}
     */
    static boolean hasTaken(SessionServices services, Session member, long id) {
        SessionRecord record = member.record();
        DeliveryHistory history = services.history();
        return (record != null && record.tookBefore(id))
                || (history.knows(member.key(), id) && (record == null || !record.hasLost(history, id)));
    }
}
