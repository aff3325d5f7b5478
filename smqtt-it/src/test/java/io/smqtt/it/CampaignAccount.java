// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.IntFunction;
import java.util.stream.Collectors;

/** Compares what publishers were acknowledged with what subscribers have received. Used when the clients have ended. */
final class CampaignAccount {

    private static final int LINES = 40;

    private final List<Problem> problems = new ArrayList<>();
    private final Map<Kind, Integer> counts = new EnumMap<>(Kind.class);

    /** What may have become of a message. */
    enum Kind {
        /** It was acknowledged, and has not come. */
        LOST(true),
        /** At QoS 2 it has come again. */
        TWICE(true),
        /** It has come behind a later one of its publisher and topic. */
        LATE(true),
        /** At QoS 1 it has come again. */
        REPEATED(false),
        /** At QoS 2 it was refused, and both copies have come. */
        REFUSED_AND_TWICE(false),
        /** It was refused, and has come behind a later one. */
        REFUSED_AND_LATE(false);

        private final boolean isProblem;

        Kind(boolean isProblem) {
            this.isProblem = isProblem;
        }
    }

    /** A message that did not come as it should. */
    private record Problem(Kind kind, String audience, String publisher, int number, String round, String history) {

        String group() {
            return kind + " " + audience + " " + publisher + " " + round;
        }
    }

    /**
     * A subscriber, or the members of a shared group.
     *
     * @param qos of the subscription, and of the messages
     * @param isGroup whether each message is for one of the members: there is no order among them
     */
    record Audience(
            String name,
            int qos,
            boolean isGroup,
            List<CampaignSubscriber> members,
            List<CampaignPublisher> publishers) {

        /** Whether all has come that was acknowledged. */
        boolean isComplete() {
            return publishers.stream()
                    .allMatch(publisher -> members.stream()
                                    .mapToInt(member ->
                                            member.of(publisher.topic()).different())
                                    .sum()
                            >= publisher.acknowledged());
        }
    }

    /**
     * Adds what a subscriber or a group has received.
     *
     * @param roundAt the round of a moment in milliseconds, for people
     */
    void add(Audience audience, IntFunction<String> roundAt) {
        for (CampaignPublisher publisher : audience.publishers) {
            SentMessages sent = publisher.sent();
            for (int number = 0; number < sent.count(); number++) {
                if (sent.isAccepted(number) && !hasCome(audience, publisher, number)) {
                    add(Kind.LOST, audience, publisher, number, roundAt, "");
                }
            }
            for (CampaignSubscriber member : audience.members) {
                addCopies(audience, publisher, member, roundAt);
            }
            addOfTwoMembers(audience, publisher, roundAt);
        }
    }

    private static boolean hasCome(Audience audience, CampaignPublisher publisher, int number) {
        return audience.members.stream()
                .anyMatch(member -> member.of(publisher.topic()).has(number));
    }

    private void addCopies(
            Audience audience, CampaignPublisher publisher, CampaignSubscriber member, IntFunction<String> roundAt) {
        ReceivedMessages received = member.of(publisher.topic());
        for (ReceivedMessages.Copy copy : received.copies()) {
            boolean refused = publisher.sent().wasRefused(copy.number());
            Kind again = refused ? Kind.REFUSED_AND_TWICE : Kind.TWICE;
            String text = String.format(
                    Locale.ROOT,
                    "came %s, and again %s at n%d dup %b",
                    member.time(copy.other()),
                    member.time(copy.millis()),
                    copy.node(),
                    copy.dup());
            add(audience.qos == 2 ? again : Kind.REPEATED, audience, publisher, copy.number(), roundAt, text);
        }
        if (audience.isGroup) {
            return;
        }
        for (ReceivedMessages.Copy copy : received.late()) {
            boolean refused = publisher.sent().wasRefused(copy.number());
            String text = String.format(
                    Locale.ROOT,
                    "came %s at n%d dup %b behind %d",
                    member.time(copy.millis()),
                    copy.node(),
                    copy.dup(),
                    copy.other());
            add(refused ? Kind.REFUSED_AND_LATE : Kind.LATE, audience, publisher, copy.number(), roundAt, text);
        }
    }

    private void addOfTwoMembers(Audience audience, CampaignPublisher publisher, IntFunction<String> roundAt) {
        for (int number = 0; number < publisher.sent().count(); number++) {
            int each = number;
            long members = audience.members.stream()
                    .filter(member -> member.of(publisher.topic()).has(each))
                    .count();
            if (members > 1) {
                Kind again = publisher.sent().wasRefused(number) ? Kind.REFUSED_AND_TWICE : Kind.TWICE;
                add(
                        audience.qos == 2 ? again : Kind.REPEATED,
                        audience,
                        publisher,
                        number,
                        roundAt,
                        "came to " + members + " members");
            }
        }
    }

    private void add(
            Kind kind,
            Audience audience,
            CampaignPublisher publisher,
            int number,
            IntFunction<String> roundAt,
            String how) {
        counts.merge(kind, 1, Integer::sum);
        int sentMillis = publisher.sent().sentMillis(number);
        String places = audience.members.stream()
                .map(member -> member.getName() + " at " + member.journey().around(sentMillis))
                .collect(Collectors.joining(" | "));
        String history = publisher.sent().history(number) + (how.isEmpty() ? "" : "; " + how) + "; " + places;
        problems.add(new Problem(kind, audience.name, publisher.topic(), number, roundAt.apply(sentMillis), history));
    }

    /** How many messages there are of a kind, each counted once for each subscriber. */
    int count(Kind kind) {
        return counts.getOrDefault(kind, 0);
    }

    /** Whether all came as it should. */
    boolean isGood() {
        return counts.keySet().stream().noneMatch(kind -> kind.isProblem);
    }

    /** Writes one line for each message that did not come as it should, with its history. */
    void write(Path file) {
        try {
            Files.write(
                    file,
                    problems.stream()
                            .map(each -> each.group() + " number " + each.number + ": " + each.history)
                            .toList());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Messages of one publisher, subscriber and round in one line, with the history of the first one. */
    List<String> lines() {
        Map<String, List<Problem>> groups = new LinkedHashMap<>();
        for (Problem each : problems) {
            if (each.kind.isProblem) {
                groups.computeIfAbsent(each.group(), name -> new ArrayList<>()).add(each);
            }
        }
        return groups.entrySet().stream()
                .limit(LINES)
                .map(group -> {
                    List<Problem> all = group.getValue();
                    Problem first = all.get(0);
                    return String.format(
                            Locale.ROOT,
                            "%s: %d messages, %d to %d; %d: %s",
                            group.getKey(),
                            all.size(),
                            first.number,
                            all.get(all.size() - 1).number,
                            first.number,
                            first.history);
                })
                .toList();
    }
}
