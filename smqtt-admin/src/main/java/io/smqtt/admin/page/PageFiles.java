// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.page;

import io.smqtt.thread.AnyThread;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The files of the dashboard, which are resources of this package. A request can name a file of one of two folders only: a name that could
 * leave them is not looked up. Files are read once, and kept.
 */
@AnyThread
public final class PageFiles {

    private static final String ROOT = "dist/";
    private static final String INDEX = "index.html";
    private static final String ASSETS = "assets/";
    private static final int LONGEST_NAME = 100;

    /** A file name without slashes that does not begin with a dot. */
    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9_-]+(\\.[A-Za-z0-9_-]+)+");

    private final Map<String, PageFile> read = new ConcurrentHashMap<>();

    /** Creates it; nothing is read yet. */
    public PageFiles() {}

    /**
     * Finds a file.
     *
     * @param path the path below that of the page, not decoded; empty for the page itself
     * @return the file; null if there is none
     */
    public @Nullable PageFile find(String path) {
        String name = path.isEmpty() ? INDEX : path;
        boolean asset = name.startsWith(ASSETS);
        String last = asset ? name.substring(ASSETS.length()) : name;
        if (last.length() > LONGEST_NAME || !NAME.matcher(last).matches()) {
            return null;
        }
        PageFile known = read.get(name);
        return known == null ? load(name, asset) : known;
    }

    private @Nullable PageFile load(String name, boolean asset) {
        try (InputStream in = PageFiles.class.getResourceAsStream(ROOT + name)) {
            if (in == null) {
                return null;
            }
            PageFile file = PageFile.of(name, in.readAllBytes(), asset);
            read.put(name, file);
            return file;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
