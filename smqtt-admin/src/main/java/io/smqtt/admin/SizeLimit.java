// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin;

import io.smqtt.Explanation;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.ToLongFunction;

/**
 * Truncates the lists of an answer to a maximum size as JSON, and counts the missing entries. Clients choose the number of
 * their filters, of up to 64 KiB each. One thread.
 */
final class SizeLimit {

    /** Size of an entry as JSON, without the texts that clients choose. */
    private static final int PART_BYTES = 300;

    /** Size of a text in a list, without the text. */
    private static final int TEXT_BYTES = 3;

    private final Map<String, Integer> leftOut = new LinkedHashMap<>();
    private long room;

    private SizeLimit(long room) {
        this.room = room;
    }

    /** Truncates an explanation. Receivers, filters, and groups with nodes get a third of the size each. */
    static Bounded<Explanation> of(Explanation all, long maxBytes) {
        long third =
                (maxBytes - 3 * PART_BYTES - ListRoom.textBytes(all.topic()) - ListRoom.textBytes(all.clientId())) / 3;
        SizeLimit limit = new SizeLimit(third);
        List<Explanation.FilterMatch> filters = limit.first(
                "filters",
                all.filters(),
                match -> PART_BYTES + ListRoom.textBytes(match.filter()) + textsBytes(match.path()));
        limit.room = third;
        List<Explanation.Receiver> receivers = limit.parts(
                "receivers", all.receivers(), one -> PART_BYTES + ListRoom.textBytes(one.id()), limit::receiver);
        limit.room = third;
        List<Explanation.Group> groups = limit.parts(
                "groups",
                all.groups(),
                one -> PART_BYTES + ListRoom.textBytes(one.name()) + ListRoom.textBytes(one.filter()),
                limit::group);
        List<String> nodes = limit.first("nodes", all.nodes(), SizeLimit::textBytes);
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
        return new Bounded<>(told, limit.leftOut);
    }

    private Explanation.Receiver receiver(Explanation.Receiver one) {
        return new Explanation.Receiver(
                one.id(),
                first("receiverFilters", one.filters(), SizeLimit::textBytes),
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
                one.name(), one.filter(), first("groupMembers", one.members(), SizeLimit::textBytes), one.online());
    }

    /** The first entries that fit. */
    private <T> List<T> first(String name, List<T> all, ToLongFunction<? super T> size) {
        return parts(name, all, size, Function.identity());
    }

    /** The first entries that fit, each with its own lists truncated. */
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
        return TEXT_BYTES + ListRoom.textBytes(text);
    }
}
