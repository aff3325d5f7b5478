// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.smqtt.ClientDetails;
import io.smqtt.Explanation;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * Limits an answer to {@link ControlPaths#MOST_BYTES} and counts what was left out: clients choose how many filters they
 * have, and of up to 64 KiB each. One thread.
 */
final class ControlCut {

    /** Of a part of an answer as JSON, without the texts that clients chose. */
    private static final int PART_BYTES = 300;

    /** Of a text in a list, without the text. */
    private static final int TEXT_BYTES = 3;

    private final Map<String, Integer> leftOut = new LinkedHashMap<>();
    private long room;

    private ControlCut(long room) {
        this.room = room;
    }

    /** An answer as it is told. */
    record Told<T>(T answer, Map<String, Integer> leftOut) {

        /** Writes {@code truncated} and, if so, how much of what was left out. */
        void put(ObjectNode node) {
            node.put("truncated", !leftOut.isEmpty());
            if (!leftOut.isEmpty()) {
                ObjectNode counts = node.putObject("leftOut");
                leftOut.forEach(counts::put);
            }
        }

        /** The same for people: a line, or nothing. */
        String line() {
            if (leftOut.isEmpty()) {
                return "";
            }
            List<String> counts = new ArrayList<>();
            leftOut.forEach((name, count) -> counts.add(count + " " + words(name)));
            return "left out, since the answer would be too long: " + String.join(", ", counts) + "\n";
        }
    }

    private static String words(String name) {
        return name.replaceAll("(?=[A-Z])", " ").toLowerCase(Locale.ROOT);
    }

    /** Cuts the subscriptions of a session. */
    static Told<ClientDetails> of(ClientDetails details, long mostBytes) {
        ControlCut cut = new ControlCut(mostBytes
                - 3 * PART_BYTES
                - jsonBytes(details.info().identity().clientId())
                - jsonBytes(details.info().identity().userName()));
        List<ClientDetails.Filter> filters =
                cut.first("filters", details.subscriptions(), filter -> PART_BYTES + jsonBytes(filter.filter()));
        ClientDetails told = new ClientDetails(
                details.info(),
                details.keepAlive(),
                details.sessionExpiry(),
                details.stored(),
                details.sendMaximum(),
                details.queuedBytes(),
                filters);
        return new Told<>(told, cut.leftOut);
    }

    /** Cuts what would become of a message: receivers, filters, and groups with nodes have a third of the room each. */
    static Told<Explanation> of(Explanation all, long mostBytes) {
        long third = (mostBytes - 3 * PART_BYTES - jsonBytes(all.topic()) - jsonBytes(all.clientId())) / 3;
        ControlCut cut = new ControlCut(third);
        List<Explanation.FilterMatch> filters = cut.first(
                "filters", all.filters(), match -> PART_BYTES + jsonBytes(match.filter()) + textsBytes(match.path()));
        cut.room = third;
        List<Explanation.Receiver> receivers =
                cut.parts("receivers", all.receivers(), one -> PART_BYTES + jsonBytes(one.id()), cut::receiver);
        cut.room = third;
        List<Explanation.Group> groups = cut.parts(
                "groups",
                all.groups(),
                one -> PART_BYTES + jsonBytes(one.name()) + jsonBytes(one.filter()),
                cut::group);
        List<String> nodes = cut.first("nodes", all.nodes(), ControlCut::textBytes);
        Explanation told = new Explanation(
                all.topic(),
                all.clientId(),
                all.publish(),
                all.retained(),
                filters,
                receivers,
                groups,
                nodes,
                all.moreReceivers());
        return new Told<>(told, cut.leftOut);
    }

    private Explanation.Receiver receiver(Explanation.Receiver one) {
        return new Explanation.Receiver(
                one.id(),
                first("receiverFilters", one.filters(), ControlCut::textBytes),
                one.maximumQos(),
                one.online(),
                one.receive(),
                one.inFlight(),
                one.queued(),
                one.outcome(),
                one.reason());
    }

    private Explanation.Group group(Explanation.Group one) {
        return new Explanation.Group(
                one.name(), one.filter(), first("groupMembers", one.members(), ControlCut::textBytes), one.online());
    }

    /** As many as have room, from the first. */
    private <T> List<T> first(String name, List<T> all, ToLongFunction<? super T> size) {
        return parts(name, all, size, Function.identity());
    }

    /** The same, where each has lists of its own that are cut. */
    private <T> List<T> parts(
            String name, List<T> all, ToLongFunction<? super T> size, Function<? super T, ? extends T> cut) {
        List<T> told = new ArrayList<>();
        for (T next : all) {
            long bytes = size.applyAsLong(next);
            if (bytes > room) {
                leftOut.merge(name, all.size() - told.size(), Integer::sum);
                return told;
            }
            room -= bytes;
            told.add(cut.apply(next));
        }
        return told;
    }

    private static long textsBytes(List<String> texts) {
        long bytes = 0;
        for (String text : texts) {
            bytes += textBytes(text);
        }
        return bytes;
    }

    private static long textBytes(String text) {
        return TEXT_BYTES + jsonBytes(text);
    }

    /** What a text takes in JSON, at most. */
    static long jsonBytes(@Nullable String text) {
        long bytes = 0;
        for (int i = 0; text != null && i < text.length(); i++) {
            char c = text.charAt(i);
            bytes += c < ' ' ? 6 : c == '"' || c == '\\' ? 2 : c < 0x80 ? 1 : 3;
        }
        return bytes;
    }
}
