# Takes photos onto a shelf, and makes the page of the album after each: how many photos and folders it has.
require 'json'

SHELF = '@{work}/@{shelf}'
PREVIEW = "\xff\xd8".b * 1500
$listing = 0.0

def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

# The photos of an album, and the folders in it.
def @{fn}(album)
  start = now
  if '@{kinds}' == 'ask'
    folders, photos = Dir.children(album).partition { |name| File.directory?(File.join(album, name)) }
  else
    folders = Dir.glob('*/', base: album).map { |name| name.chomp('/') }
    photos = Dir.children(album) - folders
  end
  $listing += now - start
  [photos, folders]
end

def newest(album, photos) = photos.map { |name| File.mtime(File.join(album, name)) }.max

def page(number)
  album = File.join(SHELF, (number % @{albums} + 1).to_s)
  File.binwrite(File.join(album, format('new-%05d.jpg', number)), PREVIEW)
  photos, folders = @{fn}(album)
  changed = newest(album, photos) if @{newest} > 0 && number % (@{newest} + 1) == @{newest}
  JSON.generate(album: album, photos: photos.size, first: photos.min(24), folders: folders.sort, changed: changed)
end

begun = now
units = 0
busy = 0.0
File.open('@{work}/pages.jsonl', 'w') do |out|
  while now - begun < @{seconds}
    start = now
    out.puts page(units)
    units += 1
    busy += now - start
    sleep [0, begun + units / @{rate}.0 - now].max
  end
end
File.write('@{report}', JSON.generate(units: units, seconds: busy, culprit: $listing))
