// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication;

import io.smqtt.persistence.StoreUnusableException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Which node holds which place, in a file. A place is what everything else uses: members of groups, directories, numbers. It has the name of the node
 * that has held it first, and stays when another node takes it over ({@link PlaceChanges}). Of two decisions about a place the later one counts,
 * whichever is heard first. Thread-safe.
 */
final class Places {

    private static final String FILE = "PLACES"; // no name of a node, which is a directory beside it
    private static final String FORMAT = "smqtt places format 1";
    private static final int FIELDS = 5;

    private final @Nullable Path file;
    private volatile SortedMap<String, Holding> all;

    private Places(@Nullable Path file, SortedMap<String, Holding> all) {
        this.file = file;
        this.all = all;
    }

    /** Places whose nodes have their names, and that are not stored. */
    static Places none() {
        return new Places(null, new TreeMap<>());
    }

    /**
     * Reads the file of a data directory. Blocks.
     *
     * @throws StoreUnusableException if it cannot be read
     */
    static Places of(Path data) {
        Path directory = data.resolve(ReplicaIdentity.DIRECTORY);
        Path file = directory.resolve(FILE);
        if (!Files.exists(file)) {
            return new Places(file, new TreeMap<>());
        }
        try {
            return new Places(file, read(Files.readAllLines(file)));
        } catch (IOException e) {
            throw StoreUnusableException.of(file, e);
        }
    }

    private static SortedMap<String, Holding> read(List<String> lines) throws IOException {
        if (lines.isEmpty() || !lines.get(0).equals(FORMAT)) {
            throw new IOException("it is a file of another version");
        }
        SortedMap<String, Holding> found = new TreeMap<>();
        for (String line : lines.subList(1, lines.size())) {
            String[] fields = line.split(" ", -1);
            try {
                found.put(
                        fields[0],
                        new Holding(Long.parseLong(fields[1]), Long.parseLong(fields[2]), fields[3], fields[4]));
            } catch (NumberFormatException | ArrayIndexOutOfBoundsException e) {
                throw new IOException("it has a line that does not have " + FIELDS + " fields: " + line, e);
            }
        }
        return found;
    }

    /** The places that are or were held by nodes with other names. */
    SortedMap<String, Holding> all() {
        return new TreeMap<>(all);
    }

    /** The node that holds a place. */
    String nodeOf(String place) {
        return holding(place).node();
    }

    /** The decision about a place; that by which the node with its name holds it, if there was none. */
    Holding holding(String place) {
        Holding holding = all.get(place);
        return holding == null ? Holding.first(place) : holding;
    }

    /** Another object after each change. */
    Object version() {
        return all;
    }

    /** Whether all places are held by the nodes that have held them first. */
    boolean areUnchanged() {
        return all.isEmpty();
    }

    /**
     * Takes what another node knows. Blocks.
     *
     * @return the places whose node is another one now
     * @throws StoreUnusableException if it cannot be stored; it is not taken then
     */
    synchronized List<String> merge(Map<String, Holding> others) {
        SortedMap<String, Holding> next = new TreeMap<>(all);
        List<String> changed = new ArrayList<>();
        others.forEach((place, heard) -> {
            Holding known = holding(place);
            if (heard.isLaterThan(known)) {
                next.put(place, heard);
                if (!heard.node().equals(known.node())) {
                    changed.add(place);
                }
            }
        });
        if (!next.equals(all)) {
            write(next);
            all = next;
        }
        return changed;
    }

    private void write(SortedMap<String, Holding> next) {
        Path to = file;
        if (to == null) {
            return;
        }
        StringBuilder content = new StringBuilder(FORMAT + "\n");
        next.forEach((place, holding) -> content.append(place)
                .append(' ')
                .append(holding.term())
                .append(' ')
                .append(holding.change())
                .append(' ')
                .append(holding.node())
                .append(' ')
                .append(holding.former())
                .append('\n'));
        replace(to, content.toString());
    }

    /**
     * Replaces a small file, on stable storage when this returns. Blocks.
     *
     * @throws StoreUnusableException if it cannot be written
     */
    static void replace(Path file, String content) {
        Path fresh = file.resolveSibling(file.getFileName() + ".new");
        try {
            try (FileChannel channel = FileChannel.open(
                    fresh, StandardOpenOption.CREATE, StandardOpenOption.TRUNCATE_EXISTING, StandardOpenOption.WRITE)) {
                channel.write(ByteBuffer.wrap(content.getBytes(StandardCharsets.UTF_8)));
                channel.force(true);
            }
            Files.move(fresh, file, StandardCopyOption.ATOMIC_MOVE);
            SyncMark.syncNameOf(file);
        } catch (IOException e) {
            throw StoreUnusableException.of(file, e);
        }
    }
}
