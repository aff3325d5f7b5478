// SPDX-License-Identifier: Apache-2.0
package io.smqtt.migrate;

import com.typesafe.config.ConfigFactory;
import com.typesafe.config.ConfigIncludeContext;
import com.typesafe.config.ConfigIncluder;
import com.typesafe.config.ConfigIncluderClasspath;
import com.typesafe.config.ConfigIncluderFile;
import com.typesafe.config.ConfigIncluderURL;
import com.typesafe.config.ConfigObject;
import io.smqtt.config.ConfigurationException;
import java.io.File;
import java.io.IOException;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/**
 * The files that a HOCON file includes: only files in its directory and below, no URLs. Their number, their depth and the keys of all together
 * are limited.
 */
final class HoconIncludes implements ConfigIncluder, ConfigIncluderFile, ConfigIncluderURL, ConfigIncluderClasspath {

    static final int MAX_FILES = 20;
    static final int MAX_NESTED = 4;

    private final OldFile main;
    private final List<OldFile> files = new ArrayList<>();
    private final Deque<OldFile> open = new ArrayDeque<>();
    private final List<HoconReferences.Reference> references = new ArrayList<>();
    private final List<String> missing = new ArrayList<>();
    private int keys;
    private int chars;

    HoconIncludes(OldFile main) {
        this.main = main;
        files.add(main);
        open.push(main);
    }

    /** Bounds the text of a file. */
    String scan(OldFile file) {
        HoconScan.Scanned scanned = HoconScan.scan(file, references, keys);
        keys = scanned.keys();
        return scanned.text();
    }

    /** The substitutions of all files. */
    List<HoconReferences.Reference> references() {
        return references;
    }

    /** The includes that are not there and need not be. */
    List<String> missing() {
        return missing;
    }

    /** The file that an origin of the parser describes. */
    OldFile file(String description) {
        return files.get(place(description));
    }

    /** The place of a file in the order of reading. */
    int place(String description) {
        for (int i = files.size() - 1; i > 0; i--) {
            String name = files.get(i).shownAs();
            if (description.equals(name) || description.startsWith(name + ":")) {
                return i;
            }
        }
        return 0;
    }

    @Override
    public ConfigIncluder withFallback(ConfigIncluder fallback) {
        return this;
    }

    @Override
    public ConfigObject include(ConfigIncludeContext context, String what) {
        return includeFile(context, new File(what));
    }

    @Override
    public ConfigObject includeFile(ConfigIncludeContext context, File what) {
        OldFile from = current();
        String where = from.where(line(from, what.getPath()));
        Path path = below(where, from, what);
        if (!Files.isRegularFile(path)) {
            if (!context.parseOptions().getAllowMissing()) {
                throw new ConfigurationException(List.of(where + ": requires a file that is not there: " + what));
            }
            missing.add(where);
            return ConfigFactory.empty().root();
        }
        if (files.size() > MAX_FILES || open.size() > MAX_NESTED) {
            throw new ConfigurationException(List.of(where + ": includes more than " + MAX_FILES
                    + " files, or files that include others more than " + MAX_NESTED + " times"));
        }
        OldFile included = OldFile.read(path, shownAs(path));
        chars += included.text().length();
        if (chars > OldFile.MAX_BYTES) {
            throw new ConfigurationException(List.of(where + ": includes files of more than 1 MiB"));
        }
        files.add(included);
        open.push(included);
        ConfigObject content = HoconFile.parse(included, this);
        open.pop();
        return content;
    }

    @Override
    public ConfigObject includeURL(ConfigIncludeContext context, URL what) {
        throw foreign("url(");
    }

    @Override
    public ConfigObject includeResources(ConfigIncludeContext context, String what) {
        throw foreign("classpath(");
    }

    private ConfigurationException foreign(String what) {
        OldFile from = current();
        return from.problem(line(from, what), "includes something else than a file");
    }

    private OldFile current() {
        OldFile top = open.peek();
        return top == null ? main : top;
    }

    private Path below(String where, OldFile from, File what) {
        try {
            Path root = main.directory();
            Path path = from.directory().resolve(what.getPath()).normalize();
            boolean inside = path.startsWith(root)
                    && (!Files.exists(path) || path.toRealPath().startsWith(root.toRealPath()));
            if (!inside) {
                throw new ConfigurationException(
                        List.of(where + ": includes a file outside of the directory of " + main.shownAs()));
            }
            return path;
        } catch (InvalidPathException | IOException e) {
            throw new ConfigurationException(List.of(where + ": includes something that is no file"));
        }
    }

    private String shownAs(Path path) {
        return main.directory().relativize(path).toString();
    }

    /** The first line that has the word include and the name. */
    private static int line(OldFile file, String name) {
        int line = 0;
        for (String text : file.text().lines().toList()) {
            line++;
            if (text.contains("include") && text.contains(name)) {
                return line;
            }
        }
        return 1;
    }
}
