// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.smqtt.bytes.ByteReader;
import io.smqtt.bytes.MalformedBytesException;
import io.smqtt.bytes.NameCache;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Frames of the cluster with bytes changed: each count and each length of them is compared with the bytes that are left. */
class MutatedClusterFramesTest {

    private static final long SEED = 20_261_123;
    private static final int FRAMES = Integer.getInteger("smqtt.frames", 200_000);
    private static final int HEAD = 6;

    private final NameCache names = new NameCache(16);

    private static byte[] withLength(byte[] frame) {
        int length = frame.length - HEAD;
        for (int i = 0; i < Integer.BYTES; i++) {
            frame[2 + i] = (byte) (length >>> Byte.SIZE * (Integer.BYTES - 1 - i));
        }
        return frame;
    }

    @Tag("slow")
    @Test
    void decodersAllocateWhatHasArrived() throws Exception {
        List<byte[]> frames = new ArrayList<>();
        GoldenFrames.all().keySet().forEach(name -> frames.add(GoldenFrames.bytes(name)));
        Random random = new Random(SEED);
        Mutations mutations = new Mutations();
        for (int i = 0; i < FRAMES; i++) {
            byte[] frame = withLength(Mutations.mutated(random, frames.get(random.nextInt(frames.size())), HEAD));
            mutations.read(frame, bytes -> FrameCodec.decode(bytes, 0, names));
        }
        mutations.requireBoth();
    }

    /** As what a number says that a reader takes for a count or a length: as many as there could be, and one more. */
    @Test
    void aCountIsComparedWithTheBytesBehindIt() {
        byte[] four = {4, 1, 1, 1, 1};
        assertThat(new ByteReader(four, 0, 5).count(1)).isEqualTo(4);
        assertThatThrownBy(() -> new ByteReader(new byte[] {5, 1, 1, 1, 1}, 0, 5).count(1))
                .isInstanceOf(MalformedBytesException.class);
        assertThat(new ByteReader(new byte[] {2, 1, 1, 1, 1}, 0, 5).count(2)).isEqualTo(2);
        assertThatThrownBy(() -> new ByteReader(new byte[] {3, 1, 1, 1, 1, 1}, 0, 6).count(2))
                .isInstanceOf(MalformedBytesException.class);
    }

    @Test
    void aSnapshotThatAnnouncesManyPartsTakesNoMemoryForThem() throws Exception {
        Frame.Snapshot one = new Frame.Snapshot(1, 1, 0, PeerRoutes.MAXIMUM_PARTS, List.of(new RouteRow("a", 1)));
        byte[] frame = FrameCodec.encode(GoldenFrames.SENDER, one, 0);
        Mutations mutations = new Mutations();
        mutations.read(frame, bytes -> {
            PeerRoutes routes = new PeerRoutes(row -> {});
            routes.apply(7, (Frame.Snapshot) FrameCodec.decode(bytes, 0, names).frame());
            assertThat(routes.isAssembling()).isTrue();
        });
    }
}
