// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import io.smqtt.test.ReceivedPacket;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Receives numbers of several publishers, on any node, and writes down when each came. */
final class CampaignSubscriber extends JournalSubscriber {

    private final Journey journey;
    private final CampaignClock clock;
    private final Map<String, ReceivedMessages> byPublisher = new ConcurrentHashMap<>();
    private volatile int count;

    /** Creates a subscriber with a filter, which may be that of a shared subscription. */
    CampaignSubscriber(String name, String filter, int qos, Journey journey, CampaignClock clock) {
        super(name, filter, qos, journey.place());
        this.journey = journey;
        this.clock = clock;
        watch(journey);
    }

    Journey journey() {
        return journey;
    }

    /** What has come from a publisher. */
    ReceivedMessages of(String publisher) {
        return byPublisher.computeIfAbsent(publisher, name -> new ReceivedMessages(clock, CampaignPublisher.TOPICS));
    }

    /** A moment of the campaign as the time of day. */
    String time(int millis) {
        return clock.text(millis);
    }

    /** How many messages have come, repeated ones included. */
    int count() {
        return count;
    }

    @Override
    void received(ReceivedPacket packet) {
        String topic = packet.topic();
        of(topic.substring(0, topic.lastIndexOf('/')))
                .received(Integer.parseInt(packet.text()), journey.node(), packet.dup());
        count++; // written by one thread
    }

    @Override
    void sessionLost() {
        beginAgain();
    }
}
