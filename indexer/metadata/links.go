package metadata

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// maxLink bounds a link in bytes.
const maxLink = 512

// private are the last labels of names that lead to other hosts wherever they are looked up: to a reader's own network.
var private = []string{"localhost", "local", "internal", "intranet", "lan", "home", "corp", "private", "arpa", "invalid"}

// publicHost reports whether a host may stand in what is published: a name, and none of a private network.
func publicHost(host string) bool {
	name, err := hostName(host)
	return err == nil && !slices.Contains(private, name[strings.LastIndexByte(name, '.')+1:])
}

// link reads a link as people write them, with or without its scheme; nil if it can't be published.
func link(s string) *url.URL {
	s = strings.TrimSpace(s)
	if len(s) > maxLink || strings.ContainsFunc(s, unprintable) || strings.ContainsAny(s, " \t\\\"<>^`{|}") {
		return nil
	}
	if !strings.Contains(s, "://") {
		host, _, _ := strings.Cut(strings.TrimPrefix(s, "//"), "/")
		if strings.ContainsAny(host, ":@?#") || !strings.Contains(host, ".") {
			return nil
		}
		s = "https://" + strings.TrimPrefix(s, "//")
	}
	fragment := ""
	if plain, after, ok := strings.Cut(s, "#"); ok {
		s, fragment = plain, after
	}
	u, err := parseURL(s)
	if err != nil || !publicHost(u.Hostname()) {
		return nil
	}
	if u.Fragment, u.RawFragment = fragment, ""; fragment != "" {
		if plain, err := url.PathUnescape(fragment); err == nil {
			u.Fragment = plain
		}
	}
	if s = u.String(); len(s) > maxLink || strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
		return nil
	}
	return u
}

// cleanWebsite gives a URL that may be published; empty if it isn't one.
func cleanWebsite(s string) string {
	if u := link(s); u != nil {
		return u.String()
	}
	return ""
}

var (
	xHandle = regexp.MustCompile(`^[A-Za-z0-9_]{1,15}$`)
	number  = regexp.MustCompile(`^[0-9]{1,20}$`)
	// telegramName is of 4 characters at least; older groups and bots have 5 or more.
	telegramName   = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]{3,31}$`)
	telegramInvite = regexp.MustCompile(`^[A-Za-z0-9_-]{8,64}$`)

	xHosts        = []string{"x.com", "www.x.com", "mobile.x.com", "twitter.com", "www.twitter.com", "mobile.twitter.com"}
	telegramHosts = []string{"t.me", "www.t.me", "telegram.me", "www.telegram.me", "telegram.dog"}

	// xPages and telegramPages are names that belong to the sites themselves; some act for who follows the link.
	xPages = []string{
		"i", "home", "search", "explore", "intent", "share", "hashtag", "login", "logout", "signup", "settings", "messages",
		"notifications", "compose", "account", "oauth", "tos", "privacy",
	}
	telegramPages = []string{
		"share", "proxy", "socks", "joinchat", "addstickers", "addemoji", "addtheme", "addlist", "setlanguage", "login", "confirmphone",
		"invoice", "giftcode", "boost", "contact",
	}
)

// handleOrPath gives the parts of the path of a URL on one of a site's hosts, or a handle as the only part; nil for neither.
func handleOrPath(s string, hosts []string) []string {
	s = strings.TrimSpace(s)
	if !strings.ContainsAny(s, "./") {
		return []string{strings.TrimPrefix(s, "@")}
	}
	u := link(s)
	if u == nil || u.Port() != "" || !slices.Contains(hosts, u.Host) {
		return nil
	}
	parts := strings.Split(strings.Trim(u.Path, "/"), "/")
	parts[0] = strings.TrimPrefix(parts[0], "@")
	return parts
}

// cleanX gives the URL of an account, a post or a community on X, from a URL there or on Twitter, or from a handle.
func cleanX(s string) string {
	p := handleOrPath(s, xHosts)
	switch {
	case len(p) >= 3 && p[0] == "i" && p[1] == "communities" && number.MatchString(p[2]):
		return "https://x.com/i/communities/" + p[2]
	case len(p) == 0 || !xHandle.MatchString(p[0]) || slices.Contains(xPages, strings.ToLower(p[0])):
		return ""
	case len(p) >= 3 && p[1] == "status" && number.MatchString(p[2]):
		return "https://x.com/" + p[0] + "/status/" + p[2]
	}
	return "https://x.com/" + p[0]
}

// cleanTelegram gives the URL of a chat, a channel's post or an invitation on Telegram, from a URL there or from a name.
func cleanTelegram(s string) string {
	p := handleOrPath(s, telegramHosts)
	if len(p) >= 2 && p[0] == "s" { // the preview of a channel
		p = p[1:]
	}
	if len(p) == 0 {
		return ""
	}
	if invite, ok := strings.CutPrefix(p[0], "+"); ok && telegramInvite.MatchString(invite) {
		return "https://t.me/+" + invite
	}
	switch {
	case len(p) >= 2 && p[0] == "joinchat" && telegramInvite.MatchString(p[1]):
		return "https://t.me/+" + p[1]
	case !telegramName.MatchString(p[0]) || slices.Contains(telegramPages, strings.ToLower(p[0])):
		return ""
	case len(p) >= 2 && number.MatchString(p[1]):
		return "https://t.me/" + p[0] + "/" + p[1]
	}
	return "https://t.me/" + p[0]
}
