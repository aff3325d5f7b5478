// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bench;

import io.netty.buffer.ByteBuf;
import org.jspecify.annotations.Nullable;

/** The sending half of a client: its windows and messages in flight. Owned by its client's event loop. */
final class Publisher {

    private static final int SENT = 1;
    private static final int RELEASED = 2;

    /** The number of messages that a publisher without other limits sends before others continue. */
    private static final int BURST = 64;

    final int number;
    final int group;
    final int place;
    private final int stamp;
    final LoadClient client;
    private final LoadSettings settings;
    private final PublishTemplate[] templates;
    private final PublishTemplate[] introducing;
    private final PublishTemplate[] aliased;
    private int aliases;
    private final int qos;
    private final long windowDeliveries;
    private final byte[] stateOfIdentifier;
    private final short[] freeIdentifiers;
    private int freeCount;
    private int usable;

    private @Nullable PaceSchedule schedule;
    private long endNanos;
    private long limit;
    private boolean publishing;
    private int sent;
    private long outstandingDeliveries;
    private long lastCreditNanos;
    boolean touched;

    /**
     * @param number its place among the publishers of this run
     * @param group the index of its group
     * @param place its place in the group's schedule
     * @param stamp the publisher number in its messages to the first topic
     * @param messages its messages, one for each topic
     * @param deliveriesPerMessage number of deliveries that return the credit, 0 if the window is not used
     */
    Publisher(
            int number,
            int group,
            int place,
            int stamp,
            LoadClient client,
            LoadSettings settings,
            TopicTemplates messages,
            int deliveriesPerMessage) {
        this.number = number;
        this.group = group;
        this.place = place;
        this.stamp = stamp;
        this.client = client;
        this.settings = settings;
        this.templates = messages.plain();
        this.introducing = messages.introducing();
        this.aliased = messages.aliased();
        this.qos = settings.qos();
        this.windowDeliveries = (long) settings.window() * deliveriesPerMessage;
        int identifiers = qos == 0 ? 0 : settings.inFlight();
        stateOfIdentifier = new byte[identifiers + 1];
        freeIdentifiers = new short[identifiers];
        for (int i = 0; i < identifiers; i++) {
            freeIdentifiers[i] = (short) (identifiers - i);
        }
        freeCount = identifiers;
        usable = identifiers;
    }

    /** Sets the server's Receive Maximum and Topic Alias Maximum (MQTT 5.0, sections 3.2.2.3.3 and 3.2.2.3.8). */
    void limits(int receiveMaximum, int topicAliasMaximum) {
        usable = Math.min(usable, receiveMaximum);
        aliases = Math.min(aliased.length, topicAliasMaximum);
    }

    /** Starts to send. {@code limit} is the maximum number of messages of this publisher. */
    void start(@Nullable PaceSchedule pace, long end, long most) {
        schedule = pace;
        endNanos = end;
        limit = most;
        publishing = true;
        lastCreditNanos = System.nanoTime();
    }

    void stop() {
        publishing = false;
    }

    /** Sends the messages that are due and allowed. */
    void pump(long now) {
        int burst = windowDeliveries > 0 || schedule != null ? Integer.MAX_VALUE : BURST;
        while (publishing && sent < limit && maySend(now)) {
            PaceSchedule pace = schedule;
            long due = pace == null ? now : pace.dueNanos(place, sent);
            if (due - now > 0 || due - endNanos >= 0) {
                return;
            }
            if (burst-- == 0) {
                client.loop.touch(this);
                return;
            }
            send(due, now);
        }
    }

    private boolean maySend(long now) {
        if (!client.isWritable() || qos > 0 && !hasIdentifier()) {
            return false;
        }
        if (windowDeliveries == 0 || outstandingDeliveries < windowDeliveries) {
            return true;
        }
        if (now - lastCreditNanos > settings.stallNanos()) {
            client.loop.figures.windowStalls++;
            outstandingDeliveries = 0;
            lastCreditNanos = now;
            return true;
        }
        return false;
    }

    private boolean hasIdentifier() {
        return freeIdentifiers.length - freeCount < usable;
    }

    private void send(long due, long now) {
        int identifier = 0;
        if (qos > 0) {
            identifier = freeIdentifiers[--freeCount] & 0xFFFF;
            stateOfIdentifier[identifier] = SENT;
        }
        int topic = sent % templates.length;
        int sequence = sent / templates.length;
        PublishTemplate template =
                topic >= aliases ? templates[topic] : sequence == 0 ? introducing[topic] : aliased[topic];
        ByteBuf out = client.begin(template.packetBytes());
        if (settings.payloadBytes() >= Stamp.BYTES) {
            template.write(out, identifier, due, stamp + topic, sequence);
        } else {
            template.writeBare(out, identifier, sequence);
        }
        client.written();
        sent++;
        outstandingDeliveries += settings.window() == 0 ? 0 : windowDeliveries / settings.window();
        client.loop.published(due, now);
    }

    /** Records that subscribers have received a number of this publisher's messages. */
    void credit(int deliveries, long now) {
        outstandingDeliveries = Math.max(0, outstandingDeliveries - deliveries);
        lastCreditNanos = now;
    }

    /** PUBACK, PUBREC or PUBCOMP; {@code type} is 4, 5 or 7. */
    void acknowledged(int type, int identifier, int reasonCode) {
        LoadFigures figures = client.loop.figures;
        int expected = type == 7 ? RELEASED : SENT;
        boolean rightQos = qos == 1 ? type == 4 : type != 4;
        if (identifier >= stateOfIdentifier.length || stateOfIdentifier[identifier] != expected || !rightQos) {
            figures.badAcknowledgements++;
            return;
        }
        boolean refused = reasonCode >= 0x80;
        if (refused) {
            figures.refusedAcknowledgements++;
        }
        if (type == 5 && !refused) {
            stateOfIdentifier[identifier] = RELEASED;
            ClientPackets.acknowledgement(client.begin(4), ClientPackets.PUBREL, identifier);
            client.written();
            return;
        }
        stateOfIdentifier[identifier] = 0;
        freeIdentifiers[freeCount++] = (short) identifier;
        figures.acknowledged++;
        client.loop.touch(this);
    }

    /** The number of its topics. */
    int topics() {
        return templates.length;
    }

    /** Messages passed to the connection for one of its topics. */
    int sentTo(int topic) {
        return sent / templates.length + (topic < sent % templates.length ? 1 : 0);
    }

    /** Messages passed to the connection. */
    int sent() {
        return sent;
    }

    /** Whether an acknowledgement is pending. */
    boolean isWaiting() {
        return freeCount < freeIdentifiers.length;
    }

    /** Whether the limit is reached. */
    boolean isDone() {
        return sent >= limit && !isWaiting();
    }
}
