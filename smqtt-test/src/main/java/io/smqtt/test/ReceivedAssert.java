// SPDX-License-Identifier: Apache-2.0
package io.smqtt.test;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.Payload;
import io.smqtt.topic.TopicFilter;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * Narrows down which message the broker must have received. Each step waits until there is a message that fulfils it and all steps
 * before. Not thread-safe.
 */
public final class ReceivedAssert {

    private static final int SHOWN_CHARACTERS = 200;

    private final BrokerAssert broker;
    private final List<Predicate<ApplicationMessage>> conditions = new ArrayList<>();
    private final StringBuilder wanted = new StringBuilder();

    ReceivedAssert(BrokerAssert broker, TopicFilter filter) {
        this.broker = broker;
        wanted.append("'").append(filter).append("'");
        conditions.add(message -> filter.matches(message.topic()));
        awaitMatch();
    }

    private ReceivedAssert with(String description, Predicate<ApplicationMessage> condition) {
        wanted.append(", ").append(description);
        conditions.add(condition);
        awaitMatch();
        return this;
    }

    private void awaitMatch() {
        broker.await(() -> !matching().isEmpty(), () -> unmet("a message of"));
    }

    private String unmet(String what) {
        List<ApplicationMessage> all = broker.broker().received();
        return broker.broker() + " was to receive " + what + " " + wanted + " within " + broker.deadline()
                + (all.isEmpty() ? " and received nothing" : " and received" + System.lineSeparator() + list(all));
    }

    private List<ApplicationMessage> matching() {
        return broker.broker().received().stream()
                .filter(message -> conditions.stream().allMatch(condition -> condition.test(message)))
                .toList();
    }

    /**
     * The quality of service with which it was published.
     *
     * @param qos 0, 1 or 2
     * @return this
     */
    public ReceivedAssert withQos(int qos) {
        return with("QoS " + qos, message -> message.qos().ordinal() == qos);
    }

    /**
     * The payload.
     *
     * @param text as UTF-8
     * @return this
     */
    public ReceivedAssert withPayload(String text) {
        Payload payload = Payload.of(text);
        return with("payload " + text, message -> message.payload().equals(payload));
    }

    /**
     * The payload.
     *
     * @param bytes all of it
     * @return this
     */
    public ReceivedAssert withPayload(byte[] bytes) {
        Payload payload = Payload.of(bytes.clone());
        return with(
                "payload of " + bytes.length + " given bytes",
                message -> message.payload().equals(payload));
    }

    /**
     * Who published it.
     *
     * @param clientId a client identifier
     * @return this
     */
    public ReceivedAssert from(String clientId) {
        return with("from " + clientId, message -> clientId.equals(message.publisherId()));
    }

    /**
     * It was published with the retain flag.
     *
     * @return this
     */
    public ReceivedAssert retained() {
        return with("retained", ApplicationMessage::retain);
    }

    /**
     * Any other condition.
     *
     * @param description for the error message
     * @param condition true for a message that will do
     * @return this
     */
    public ReceivedAssert matching(String description, Predicate<ApplicationMessage> condition) {
        return with(description, condition);
    }

    /**
     * How many messages fulfil all conditions. Waits until there are so many, and does not wait for more.
     *
     * @param count how many
     * @return the broker's assertions, for the next one
     */
    public BrokerAssert times(int count) {
        broker.await(() -> matching().size() >= count, () -> unmet(count + " messages of"));
        List<ApplicationMessage> found = matching();
        if (found.size() > count) {
            throw broker.failed(broker.broker() + " was to receive " + count + " messages of " + wanted
                    + " and received " + found.size() + System.lineSeparator() + list(found));
        }
        return broker;
    }

    /**
     * Goes on with other assertions.
     *
     * @return the broker's assertions
     */
    public BrokerAssert and() {
        return broker;
    }

    static String list(List<ApplicationMessage> messages) {
        return messages.stream()
                .map(message -> "  " + message.topic().value() + ", QoS "
                        + message.qos().ordinal() + (message.retain() ? ", retained" : "") + ", from "
                        + message.publisherId() + ", payload " + shortened(message))
                .collect(Collectors.joining(System.lineSeparator()));
    }

    private static String shortened(ApplicationMessage message) {
        String text = message.payload().asString();
        return text.length() <= SHOWN_CHARACTERS
                ? text
                : text.substring(0, SHOWN_CHARACTERS) + "… of "
                        + message.payload().size() + " bytes";
    }
}
