// SPDX-License-Identifier: Apache-2.0
package io.smqtt.migrate;

import io.smqtt.config.ConfigurationException;
import io.smqtt.config.FileProblem;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * The text of a user's file.
 *
 * @param path the file
 * @param shownAs its name in messages
 * @param text the whole text
 */
record OldFile(Path path, String shownAs, String text) {

    static final int MAX_BYTES = 1 << 20;
    static final int MAX_SETTINGS = 10_000;
    static final int MAX_DEPTH = 16;
    static final int MAX_KEY = 512;

    /** Reads a file of at most 1 MiB. */
    static OldFile read(Path path, String shownAs) {
        try (InputStream in = Files.newInputStream(path)) {
            byte[] bytes = in.readNBytes(MAX_BYTES + 1);
            if (bytes.length > MAX_BYTES) {
                throw new ConfigurationException(
                        List.of(shownAs + ": is larger than 1 MiB, so it is not a configuration"));
            }
            String text = StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(bytes))
                    .toString();
            return new OldFile(path, shownAs, text.startsWith("\ufeff") ? text.substring(1) : text);
        } catch (CharacterCodingException e) {
            throw new ConfigurationException(
                    List.of(shownAs + ": is not in UTF-8; convert it, for example iconv -f GB18030 -t UTF-8"));
        } catch (IOException e) {
            throw new ConfigurationException(List.of(shownAs + ": the file " + FileProblem.reason(path, e)));
        }
    }

    /** The absolute directory of the file. */
    Path directory() {
        Path parent = path.toAbsolutePath().normalize().getParent();
        return parent == null ? path.toAbsolutePath() : parent;
    }

    String where(int line) {
        return shownAs + ":" + line;
    }

    ConfigurationException problem(int line, String what) {
        return new ConfigurationException(List.of(where(line) + ": " + what));
    }

    /** Refuses a key that is longer than any real one, because the processing time is quadratic in its length. */
    void requireShort(int length, int line) {
        if (length > MAX_KEY) {
            throw problem(line, "holds a key of more than " + MAX_KEY + " characters");
        }
    }

    /** Refuses more keys than a configuration can have. */
    void requireFew(List<OldSetting> settings, int line) {
        if (settings.size() >= MAX_SETTINGS) {
            throw problem(line, "has more than 10,000 keys, so it is not a configuration");
        }
    }
}
