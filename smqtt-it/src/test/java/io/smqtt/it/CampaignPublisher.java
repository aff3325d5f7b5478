// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import io.smqtt.test.ReceivedPacket;
import java.time.Duration;

/** Publishes numbers to several topics in turn, on any node, and notes the answer to each. Refused ones are sent again. */
final class CampaignPublisher extends JournalPublisher {

    /** The topics of a publisher. */
    static final int TOPICS = 2;

    private final Journey journey;
    private final SentMessages sent;

    CampaignPublisher(String topic, int qos, Journey journey, CampaignClock clock, Duration pace) {
        super(topic, qos, journey.place(), pace);
        this.journey = journey;
        this.sent = new SentMessages(clock);
        watch(journey);
    }

    Journey journey() {
        return journey;
    }

    SentMessages sent() {
        return sent;
    }

    @Override
    String topicOf(int number) {
        return topic() + "/" + number % TOPICS;
    }

    @Override
    void sent(int number) {
        sent.sent(number, journey.node());
    }

    @Override
    void accepted(int number) {
        sent.accepted(number, journey.node());
    }

    @Override
    boolean isSentAgain(int number, ReceivedPacket refusal) {
        sent.refused(number);
        return true;
    }

    @Override
    void sessionLost() {
        // the journey counts it
    }
}
