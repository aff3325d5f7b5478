// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication;

import io.smqtt.bytes.ByteReader;
import io.smqtt.bytes.ByteWriter;
import io.smqtt.bytes.MalformedBytesException;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * A message between two nodes that is of no group.
 *
 * <pre>
 * 0  version 1
 * 1  255, which is the number of no group
 * 2  kind
 *    content
 * </pre>
 */
sealed interface PlaceMessage {

    /** In the place of the number of a group. */
    int NUMBER = 255;

    /**
     * The holdings that the sender has on stable storage.
     *
     * @param asks whether the receiver is to send its own when it has stored these
     * @param holdings by place
     */
    record Known(boolean asks, SortedMap<String, Holding> holdings) implements PlaceMessage {}

    /**
     * An operator wants another node to hold the place of a lost one. The leader of its group answers.
     *
     * @param nonce the number of the question
     * @param lost the node that holds the place
     * @param by the node that is to hold it
     */
    record Replace(long nonce, String lost, String by) implements PlaceMessage {}

    /**
     * The answer.
     *
     * @param nonce the number of the question
     * @param place the place; empty if it was refused
     * @param text why it was refused; empty if it was not
     */
    record Replaced(long nonce, String place, String text) implements PlaceMessage {}

    /** The sender leaves the receiver out for good: its name or its disk has been replaced. */
    record LeftOut(String reason) implements PlaceMessage {}

    /** Encodes a message. */
    static byte[] encode(PlaceMessage message) {
        ByteWriter out = new ByteWriter(64).u8(1).u8(NUMBER);
        if (message instanceof Known known) {
            out.u8(1).u8(known.asks() ? 1 : 0);
            known.holdings()
                    .forEach((place, holding) -> out.text(place)
                            .i64(holding.term())
                            .i64(holding.change())
                            .text(holding.node())
                            .text(holding.former()));
        } else if (message instanceof Replace replace) {
            out.u8(2).i64(replace.nonce()).text(replace.lost()).text(replace.by());
        } else if (message instanceof Replaced replaced) {
            out.u8(3).i64(replaced.nonce()).text(replaced.place()).text(replaced.text());
        } else if (message instanceof LeftOut leftOut) {
            out.u8(4).text(leftOut.reason());
        }
        return out.toByteArray();
    }

    /**
     * Decodes a message.
     *
     * @throws MalformedBytesException if it is none of the above
     */
    static PlaceMessage decode(byte[] bytes) {
        ByteReader in = new ByteReader(bytes);
        in.format(1);
        in.u8();
        int kind = in.u8();
        PlaceMessage message = switch (kind) {
            case 1 -> new Known(in.u8() == 1, holdings(in));
            case 2 -> new Replace(in.i64(), in.text(), in.text());
            case 3 -> new Replaced(in.i64(), in.text(), in.text());
            case 4 -> new LeftOut(in.text());
            default -> throw new MalformedBytesException("a message of kind " + kind);
        };
        in.requireEnd();
        return message;
    }

    private static SortedMap<String, Holding> holdings(ByteReader in) {
        SortedMap<String, Holding> holdings = new TreeMap<>();
        while (in.remaining() > 0) {
            if (holdings.size() > GroupSettings.MAXIMUM_NUMBER) {
                throw new MalformedBytesException("more places than groups");
            }
            holdings.put(in.text(), new Holding(in.i64(), in.i64(), in.text(), in.text()));
        }
        return holdings;
    }
}
